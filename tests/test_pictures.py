"""Pictures: format and size are read from the header, WebP is lossless, and a world keeps the latest ones."""

from io import BytesIO

import pytest
from PIL import Image, ImageDraw

from midcourse.errors import TaskInvalid
from midcourse.pictures import LatestPictures, read_picture, to_png, to_webp
from midcourse.ports.blobs import Blob, digest_of


def drawn(mode: str = "RGB", size: tuple[int, int] = (320, 200)) -> Image.Image:
    picture = Image.new(mode, size, "white")
    for line in range(0, size[1], 12):
        ImageDraw.Draw(picture).text((5, line), f"line {line} of a page with words", fill="black")
    return picture


def encoded(picture: Image.Image, form: str, **options: object) -> bytes:
    file = BytesIO()
    picture.save(file, form, **options)
    return file.getvalue()


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "P", "1"])
def test_webp_has_the_same_pixels_and_size_in_fewer_bytes(mode: str):
    png = encoded(drawn(mode), "PNG")
    picture = read_picture(to_webp(png))
    assert picture is not None
    assert (picture.media_type, picture.width, picture.height) == ("image/webp", 320, 200)
    if mode == "RGB":
        assert len(picture.data) < len(png)
    before, after, again = (Image.open(BytesIO(data)).convert("RGBA") for data in (png, picture.data, to_png(picture)))
    assert before.tobytes() == after.tobytes() == again.tobytes()


def test_what_is_transparent_keeps_its_colour():
    png = encoded(Image.new("RGBA", (4, 4), (10, 20, 30, 0)), "PNG")
    assert Image.open(BytesIO(to_webp(png))).getpixel((1, 1)) == (10, 20, 30, 0)


def test_picture_that_is_too_large_for_webp_stays_a_png():
    png = encoded(Image.new("1", (20_000, 1)), "PNG")
    assert to_webp(png) == png


@pytest.mark.parametrize(
    ("data", "form", "size"),
    [
        (encoded(drawn(), "PNG"), "image/png", (320, 200)),
        (encoded(drawn(), "WEBP", lossless=True), "image/webp", (320, 200)),
        (encoded(drawn(), "WEBP", quality=50), "image/webp", (320, 200)),
        (encoded(drawn("RGBA"), "WEBP", quality=50, exif=b"Exif\0\0"), "image/webp", (320, 200)),
        (encoded(Image.new("RGB", (1, 16383)), "WEBP", lossless=True), "image/webp", (1, 16383)),
    ],
)
def test_form_and_size_are_those_of_the_header(data: bytes, form: str, size: tuple[int, int]):
    assert read_picture(data) == Blob(data=data, media_type=form, width=size[0], height=size[1])  # pyrefly: ignore[bad-argument-type]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html>",
        b"GIF89a" + b"\0" * 40,
        b"\x89PNG\r\n\x1a\n",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0" * 20,
        b"RIFF\0\0\0\0WEBP",
        b"RIFF\0\0\0\0WEBPVP8L" + b"\0" * 20,
        b"RIFF\0\0\0\0WEBP<svg" + b"\0" * 20,
    ],
)
def test_data_of_other_formats_is_not_a_picture(data: bytes):
    assert read_picture(data) is None


async def test_the_two_latest_pictures_are_kept():
    pictures, png = LatestPictures("all"), [encoded(drawn(size=(20 + n, 20)), "PNG") for n in range(3)]
    digests = [await pictures.keep(one, "f") for one in png]
    assert pictures.read(digests[0]) is None
    assert [digest_of(pictures.read(digest) or b"") for digest in digests[1:]] == digests[1:]


def test_an_unknown_value_for_pictures_is_refused():
    with pytest.raises(TaskInvalid, match="never, on_change, on_failure or all"):
        LatestPictures("often")  # pyrefly: ignore[bad-argument-type]
