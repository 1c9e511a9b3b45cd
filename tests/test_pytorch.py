"""docs/pytorch.md is correct, and a program gives the same results in both libraries."""

import math
import pickle

import pytest

import pytorch_page
import strided as st

REMARKS = pytorch_page.remarks()


def program(torch):
    """A typical program: creates, views, computes, indexes, copies and saves tensors. Returns plain Python values."""
    torch.set_printoptions(precision=4)
    x = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
    weights = torch.tensor([0.5, 0.25, 0.125, 0.125])
    rows = (x * weights).sum(dim=-1)
    centred = x - x.sum((0, 1), keepdim=True) / 6
    image = x.permute(2, 0, 1)[1:, :, ::2].contiguous()
    image[0, 1] = -1
    image[..., 0] += 10
    mask = (x > 5) * (x <= 17)
    windows = torch.arange(10).unfold(0, 4, 3)
    total = torch.zeros(3, dtype=torch.float64)
    total.add_(rows.sum(0)).div_(2)
    torch.sub(total, 1, out=total)
    shared = x.view(-1)
    shared[0] = 100.0
    pieces = torch.split(shared, 10)
    again = pickle.loads(pickle.dumps({"x": x, "part": x[0].t()}))
    z = torch.tensor([3 + 4j, 1j])
    steps = [step.item() for step in torch.zeros(2).fill_(1.5)]
    return {
        "rows": rows.tolist(),
        "centred": centred.abs().sum().item(),
        "image": (image.tolist(), tuple(image.shape), image.stride()),
        "mask": mask.sum().item(),
        "windows": windows.tolist(),
        "total": total.tolist(),
        "pieces": [tuple(piece.shape) for piece in pieces],
        "first": x[0, 0, 0].item(),
        "pickled": (again["x"].tolist(), again["x"].dtype is torch.float32, again["part"].tolist(), again["part"].stride()),
        "complex": (z.abs().tolist(), z.real.tolist(), torch.view_as_real(z).shape == (2, 2)),
        "steps": steps,
        "half": x.half().to(torch.int64).sum(0).tolist(),
        "names": [str(dtype).rpartition(".")[2] for dtype in (x.dtype, (x > 0).dtype, torch.promote_types(torch.int8, torch.uint8))],
        "questions": (x.dim(), x.numel(), x.is_contiguous(), x.transpose(0, 1).is_contiguous(), torch.is_tensor(x)),
        "scaled": (x.t() if x.dim() < 3 else x[0].t()).clone().tolist(),
        "text": "tensor" in repr(x).lower(),
        "joined": torch.as_tensor([row.tolist() for row in x[1]]).shape == (3, 4),
        "flipped": torch.flip(torch.arange(3), (0,)).tolist(),
        "inf": (torch.tensor([1.0, -1.0, 0.0]) / 0).tolist()[:2] == [math.inf, -math.inf],
    }  # fmt: skip


def test_a_program_for_pytorch_runs():
    found = program(st)
    assert found["rows"] == [[0.875, 4.875, 8.875], [12.875, 16.875, 20.875]]
    assert found["total"] == [5.875, 9.875, 13.875] and found["pieces"] == [(10,), (10,), (4,)]
    assert found["mask"] == 12 and found["first"] == 100.0 and found["names"] == ["float32", "bool", "int16"]
    assert found["pickled"][0][0][0] == [100.0, 1.0, 2.0, 3.0] and found["pickled"][1:] == (
        True,
        found["scaled"],
        (1, 4),
    )
    assert found["complex"] == ([5.0, 1.0], [3.0, 0.0], True) and found["inf"] and found["text"]


def test_the_program_returns_the_same_in_pytorch():
    torch = pytest.importorskip("torch")
    wanted, found = program(torch), program(st)
    st.testing.assert_close(found.pop("centred"), wanted.pop("centred"), rtol=1e-6, atol=0.0)
    assert found == wanted


# The page


def test_the_page_is_fresh():
    assert pytorch_page.main("--check") == 0


def test_a_stale_page_is_reported(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(pytorch_page, "PAGE", tmp_path / "pytorch.md")
    assert pytorch_page.main("--check") == 1
    assert "docs/pytorch.md is stale" in capsys.readouterr().err
    assert pytorch_page.main() == 0 and pytorch_page.main("--check") == 0
    assert pytorch_page.main("--fix") == 2


def test_names_are_on_the_page():
    text = pytorch_page.page()
    for topic in pytorch_page.topics():
        section = text.partition(f"\n## {topic.title}\n")[2].partition("\n## ")[0]
        here, _, missing = section.partition("Missing: ")
        missing = missing.partition(".\n")[0]
        for kind, names in topic.names.items():
            for name in names:
                if pytorch_page.exists(kind, name):
                    assert f"`{name}`" in here, (topic.title, name)
                else:
                    base = name.removesuffix("_") if not name.startswith("_") else name
                    listed = {f"`{word}{n}`" for n in (name, base) for word in ("", "torch.", "Tensor.")}
                    assert any(n in missing for n in listed), (topic.title, name)


def test_existence():
    exists = pytorch_page.exists
    assert exists("functions", "zeros") and exists("methods", "add_") and exists("modules", "testing")
    assert not exists("functions", "no_such_name") and not exists("methods", "zeros")
    assert not exists("methods", "mro"), "that is the metaclass's own"


def test_names_are_written_once():
    for kind in pytorch_page.KINDS:
        names = [name for topic in pytorch_page.topics() for name in topic.names[kind]]
        assert len(names) == len(set(names))
    known = {name for topic in pytorch_page.topics() for kind in pytorch_page.KINDS for name in topic.names[kind]}
    assert {name.removeprefix("torch.").removeprefix(".") for remark in REMARKS for name in remark.names} <= known


def test_names_are_those_of_pytorch():
    torch = pytest.importorskip("torch")
    owners = {"functions": torch, "methods": torch.Tensor, "modules": torch}
    for topic in pytorch_page.topics():
        for kind, names in topic.names.items():
            assert [name for name in names if not hasattr(owners[kind], name)] == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("remark", REMARKS, ids=lambda remark: remark.code)
def test_remarks_are_true_of_pytorch(remark):
    torch = pytest.importorskip("torch")
    torch.set_printoptions(profile="default")
    assert pytorch_page.outcome(remark.code, torch) == remark.theirs


def test_errors_are_what_the_page_says():
    assert {RuntimeError, ValueError} <= set(st.ShapeError.__mro__) & set(st.StorageError.__mro__)
    assert {RuntimeError, TypeError} <= set(st.DTypeError.__mro__)
