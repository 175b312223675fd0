"""PyTorch tensors give PyTorch tensors, on CUDA and on the host."""

import numpy as np
import pytest

import warpalign
from warpalign import _core, ndimage

torch = pytest.importorskip("torch")


@pytest.fixture
def tensor(image):
    if not torch.cuda.is_available():
        pytest.skip("PyTorch sees no device")
    return torch.from_numpy(image).cuda()


def test_on_the_host(image):
    tensor = torch.from_numpy(image)
    result = ndimage.rotate(tensor, 20, device="cuda:0")
    assert isinstance(result, torch.Tensor) and result.device.type == "cpu"
    np.testing.assert_array_equal(result.numpy(), ndimage.rotate(image, 20, device="cuda:0"))


def test_on_the_device(tensor, image):
    for call in (lambda x, **on: ndimage.rotate(x, 20, **on),
                 lambda x, **on: ndimage.zoom(x, (1, 2.5), order=1, **on),
                 lambda x, **on: ndimage.spline_filter(x, **on)):
        result = call(tensor)
        assert isinstance(result, torch.Tensor) and result.device == tensor.device
        np.testing.assert_allclose(result.cpu().numpy(), call(image, device="cuda:0"), atol=2e-6)


def test_nothing_is_copied(tensor, monkeypatch):
    addresses = []
    original = _core.transform_on_device

    def noted(device, images, output, *rest):
        addresses.append((images.handle, output.handle))
        return original(device, images, output, *rest)

    monkeypatch.setattr(_core, "transform_on_device", noted)
    output = torch.empty_like(tensor)
    assert ndimage.shift(tensor, 0.5, output=output) is output
    result = ndimage.shift(tensor, 0.5)
    assert addresses == [(tensor.data_ptr(), output.data_ptr()),
                         (tensor.data_ptr(), result.data_ptr())]


def test_work_is_in_order_with_the_current_stream(tensor):
    expected = ndimage.shift(np.full((2000, 3000), 7, np.float32), 0.5, mode="nearest",
                             device="cuda:0")
    busy = torch.rand((4000, 4000), device="cuda")
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(20):
            busy = busy @ busy
            busy /= busy.abs().max()
        x = torch.zeros((2000, 3000), device="cuda")
        x += 7
        result = ndimage.shift(x, 0.5, mode="nearest")
        x[:] = -1
        result += 1
    stream.synchronize()
    np.testing.assert_allclose(result.cpu().numpy(), expected + 1, rtol=1e-6)


def test_a_batch_in_half_precision(tensor):
    stack = tensor.half().expand(4, 200, 300)
    result = ndimage.rotate(stack, 30, axes=(1, 2), reshape=False)
    assert result.dtype == torch.float16 and result.shape == (4, 200, 300)
    assert torch.equal(result[0], result[3])


def test_points_on_the_device(tensor, image):
    points = torch.rand((2, 50), device="cuda", dtype=torch.float64) * 199
    result = ndimage.map_coordinates(tensor, points)
    expected = ndimage.map_coordinates(image, points.cpu().numpy(), device="cuda:0")
    np.testing.assert_allclose(result.cpu().numpy(), expected, atol=5e-5)


def test_pairs_are_registered(tensor, scene, moved):
    moving = moved(scene, 8, 1.1, (3, -5))
    x, y = torch.from_numpy(scene).cuda(), torch.from_numpy(moving).cuda()
    found = warpalign.register(x, y)
    assert found.reliable and abs(found.rotation_deg - 8) < 0.01
    assert isinstance(found.warp(y), torch.Tensor)
    registrar = warpalign.Registrar(device=x)
    registrar.set_reference(x)
    np.testing.assert_allclose(registrar.align(y).matrix, found.matrix, atol=1e-6)


def test_unsupported_calls_raise(tensor):
    for call, kind, words in [
        (lambda: ndimage.shift(tensor.bfloat16(), 1), TypeError, "bfloat16"),
        (lambda: ndimage.shift(tensor.long(), 1), TypeError, "int64"),
        (lambda: ndimage.shift(tensor, 1, output=tensor.cpu()), TypeError, "output must be"),
        (lambda: ndimage.shift(tensor.clone().requires_grad_(), 1), (BufferError, RuntimeError),
         "grad"),
    ]:
        with pytest.raises(kind, match=words):
            call()


def test_pytorch_accepts_arrays_of_warpalign(image, cuda):
    array = ndimage.shift(warpalign.to_device(image, cuda), 0.5)
    with torch.cuda.stream(torch.cuda.Stream()):
        taken = torch.from_dlpack(array)
        assert taken.data_ptr() == array.handle
        doubled = 2 * taken
    np.testing.assert_allclose(
        doubled.cpu().numpy(), 2 * ndimage.shift(image, 0.5, device="cuda:0"), atol=2e-6)
