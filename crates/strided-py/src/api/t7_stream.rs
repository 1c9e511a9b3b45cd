//! Methods of the readers and writers of .t7 objects. Errors have the names of Torch7's methods.

use crate::abi::errors::{CallResult, Fail, guard_pyo3};
use crate::abi::refs::{new_ref, to_py};
use crate::classes::document;
use crate::classes::t7_stream::{ReaderState, T7Reader, T7Writer, WriterState};
use crate::convert::args::{Instance, UntypedArg};
use crate::convert::documents::{Hooks, ObjectMaker};
use pyo3::types::PyBytes;
use strided_core::Error;
use strided_core::io::t7::Encoding;
use strided_core::io::{ByteOrder, ByteTarget, FileOutput, Loader};

methods! { reader_rows(py, x: Instance<T7Reader>):
    /// Reads the object at a position. Returns it and the position after it.
    method read(position: u64, encoding: &str, long_size: u64, byte_order: &str, referenced: bool, hooks: Option<UntypedArg>) -> "tuple[Any, int]"
        => Ok(guard_pyo3(py, "readObject", || {
            let mut state = x.state()?;
            let ReaderState { reader, made } = &mut *state;
            reader.set_encoding(encoding_of(encoding, long_size, byte_order)?, referenced);
            let read = reader.read_object(position).map_err(Fail::from);
            let (root, end) = document::add_names(py, "readObject", "", read)?;
            let document = reader.document();
            let hooks = Hooks::new(py, hooks.map(|hooks| hooks.0.to_owned()).as_ref())?;
            let loader = Loader::new(document, true, None);
            let mut maker = ObjectMaker::new(py, document, loader, hooks, std::mem::take(made))?;
            let object = maker.make(root);
            *made = maker.into_made();
            to_py(py, (document::add_names(py, "readObject", "", object)?, end))
        })?);
}

methods! { writer_rows(py, x: Instance<T7Writer>):
    /// The bytes of an object, which are to be appended to the file.
    method write(obj: UntypedArg, encoding: &str, long_size: u64, byte_order: &str, referenced: bool) -> "bytes"
        => Ok(guard_pyo3(py, "writeObject", || {
            let mut state = x.state()?;
            let WriterState { writer, builder } = &mut *state;
            writer.encoding = encoding_of(encoding, long_size, byte_order)?;
            writer.referenced = referenced;
            let mut bytes = Collected(Vec::new());
            let mut output = FileOutput::new(&mut bytes);
            // An object that is written again in full may have changed since.
            let mut fresh = (!referenced).then(|| builder.fresh(py));
            let builder = fresh.as_mut().unwrap_or(builder);
            let root = builder.add(&new_ref(obj.0))?;
            let written = writer.write_object(&builder.document, root, &mut output);
            let written = written.and_then(|()| output.finish()).map_err(Fail::from);
            document::add_names(py, "writeObject", "", written)?;
            to_py(py, PyBytes::new(py, &bytes.0))
        })?);
}

/// The encoding that Torch7's files were set to.
fn encoding_of(encoding: &str, long_size: u64, byte_order: &str) -> CallResult<Encoding> {
    let ascii = match encoding {
        "ascii" => true,
        "binary" => false,
        other => return Err(Fail::Value(format!("encoding is '{other}', wanted 'binary' or 'ascii'"))),
    };
    if !matches!(long_size, 4 | 8) {
        return Err(Error::argument("long_size", long_size, "4 or 8").into());
    }
    let order = if byte_order == "big" { ByteOrder::Big } else { ByteOrder::Little };
    Ok(Encoding { ascii, long_size: long_size as usize, order })
}

/// Bytes in memory.
struct Collected(Vec<u8>);

impl ByteTarget for Collected {
    fn write(&mut self, bytes: &[u8]) -> strided_core::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}
