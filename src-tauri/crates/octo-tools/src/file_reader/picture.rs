//! Pictures, made to fit what models take.

use crate::{Outcome, ToolContext, ToolError, ToolOutput};
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits, imageops::FilterType};
use octo_protocol::{ResultImage, ToolView};
use octo_workspace::shown;
use std::{io::Cursor, path::Path};

/// The largest file that is decoded.
pub(super) const MAX_FILE: u64 = 32 << 20;
/// The longest edge in pixels. Anthropic scales larger pictures down to this before the model sees them.
const MAX_EDGE: u32 = 1_568;
/// The most bytes of a picture: providers take 5 MB of base64, which is a third longer than the bytes.
const MAX_BYTES: usize = 3_700_000;
/// Memory a decoder may use: a picture of a few kilobytes can claim any size.
const MAX_DECODED: u64 = 512 << 20;

/// The picture as an image block. It is decoded whatever its size: a broken one would be refused by the
/// provider, now and with every later message of the session.
pub(super) fn read(bytes: Vec<u8>, path: &Path, context: &ToolContext) -> Result<ToolOutput, ToolError> {
    let name = path.file_name().map_or_else(|| "picture".into(), |name| name.to_string_lossy().into_owned());
    let picture = fit(bytes).map_err(|reason| {
        ToolError::new(format!("{} looks like a picture but cannot be shown: {reason}.", path.display()))
    })?;
    let blob = context
        .blobs
        .put(&picture.bytes)
        .map_err(|error| ToolError::new(format!("The picture could not be kept: {error}.")))?;
    let media_type = picture.format.to_mime_type().to_owned();
    let (width, height) = picture.size;
    let mut text = format!("Picture: {} ({media_type}, {width}x{height})", shown(path, &context.cwd));
    if picture.shown != picture.size {
        text.push_str(&format!(", shown at {}x{}", picture.shown.0, picture.shown.1));
    }
    let view = ToolView::Picture {
        path: path.to_string_lossy().into_owned(),
        blob: blob.clone(),
        media_type: media_type.clone(),
    };
    let images = vec![ResultImage { blob, media_type, name }];
    Ok(ToolOutput { text, images, view, outcome: Outcome::Done })
}

struct Picture {
    bytes: Vec<u8>,
    format: ImageFormat,
    /// Width and height in the file.
    size: (u32, u32),
    /// Width and height as the model gets it.
    shown: (u32, u32),
}

fn fit(bytes: Vec<u8>) -> Result<Picture, image::ImageError> {
    let mut reader = ImageReader::new(Cursor::new(&bytes)).with_guessed_format()?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODED);
    reader.limits(limits);
    let format = reader.format().unwrap_or(ImageFormat::Png);
    let mut decoder = reader.into_decoder()?;
    let orientation = decoder.orientation()?;
    let mut image = DynamicImage::from_decoder(decoder)?;
    let size = (image.width(), image.height());
    if size.0.max(size.1) <= MAX_EDGE && bytes.len() <= MAX_BYTES {
        return Ok(Picture { bytes, format, size, shown: size });
    }
    // What is written anew has no EXIF to turn it.
    image.apply_orientation(orientation);
    // JPEG stays JPEG, the rest becomes PNG: without loss, and what every provider takes.
    let format = if format == ImageFormat::Jpeg { ImageFormat::Jpeg } else { ImageFormat::Png };
    let mut edge = MAX_EDGE.min(image.width().max(image.height()));
    loop {
        let scaled = if image.width().max(image.height()) > edge {
            image.resize(edge, edge, FilterType::CatmullRom)
        } else {
            image.clone()
        };
        let mut bytes = Vec::new();
        scaled.write_to(&mut Cursor::new(&mut bytes), format)?;
        if bytes.len() <= MAX_BYTES || edge <= 64 {
            return Ok(Picture { bytes, format, size, shown: (scaled.width(), scaled.height()) });
        }
        edge = edge * 3 / 4;
    }
}
