//! Scales pictures to fit the limits of models.

use crate::{Outcome, ToolContext, ToolError, ToolOutput};
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits, imageops::FilterType};
use octo_protocol::{ResultImage, ToolView};
use octo_workspace::display_path;
use std::{io::Cursor, path::Path};

/// Maximum size of a decoded file.
pub(super) const MAX_FILE: u64 = 32 << 20;
/// Maximum edge in pixels. Anthropic scales larger pictures down to this before the model sees them.
const MAX_EDGE: u32 = 1_568;
/// Maximum bytes of a picture: providers take 5 MB of base64, which is a third longer than the bytes.
const MAX_BYTES: usize = 3_700_000;
/// Minimum edge in pixels; a smaller picture is not scaled down further.
const MIN_EDGE: u32 = 64;
/// Memory limit of a decoder: a picture of a few kilobytes can claim any size.
const MAX_DECODED: u64 = 512 << 20;

/// Returns the picture as an image block. It is decoded whatever its size: the provider would refuse a broken
/// one, now and with every later message of the session.
pub(super) fn read(bytes: Vec<u8>, path: &Path, context: &ToolContext) -> Result<ToolOutput, ToolError> {
    let name = path.file_name().map_or_else(|| "picture".into(), |name| name.to_string_lossy().into_owned());
    let picture = fit(bytes, MAX_EDGE, MAX_BYTES).map_err(|reason| {
        ToolError::new(format!("{} looks like a picture but cannot be shown: {reason}.", path.display()))
    })?;
    let blob = context
        .blobs
        .put(&picture.bytes)
        .map_err(|error| ToolError::new(format!("The picture could not be kept: {error}.")))?;
    let media_type = picture.format.to_mime_type().to_owned();
    let (width, height) = picture.size;
    let mut text = format!("Picture: {} ({media_type}, {width}x{height})", display_path(path, &context.cwd));
    if picture.shown_size != picture.size {
        text.push_str(&format!(", shown at {}x{}", picture.shown_size.0, picture.shown_size.1));
    }
    let view = ToolView::Picture {
        path: path.to_string_lossy().into_owned(),
        blob: blob.clone(),
        media_type: media_type.clone(),
    };
    let images = vec![ResultImage { blob, media_type, name }];
    Ok(ToolOutput { text, images, view, outcome: Outcome::Done })
}

struct ScaledPicture {
    bytes: Vec<u8>,
    format: ImageFormat,
    /// Width and height in the file.
    size: (u32, u32),
    /// Width and height as sent to the model.
    shown_size: (u32, u32),
}

fn fit(bytes: Vec<u8>, max_edge: u32, max_bytes: usize) -> Result<ScaledPicture, image::ImageError> {
    let mut reader = ImageReader::new(Cursor::new(&bytes)).with_guessed_format()?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODED);
    reader.limits(limits.clone());
    let format = reader.format().unwrap_or(ImageFormat::Png);
    let mut decoder = reader.into_decoder()?;
    // The reader's limits cover the decoder's own memory; the picture itself must be counted here.
    limits.reserve(decoder.total_bytes())?;
    let orientation = decoder.orientation()?;
    let mut image = DynamicImage::from_decoder(decoder)?;
    let size = (image.width(), image.height());
    if size.0.max(size.1) <= max_edge && bytes.len() <= max_bytes {
        return Ok(ScaledPicture { bytes, format, size, shown_size: size });
    }
    // A re-encoded picture has no EXIF data to rotate it.
    image.apply_orientation(orientation);
    // Models see only eight bits a channel.
    image = if image.color().has_alpha() { image.to_rgba8().into() } else { image.to_rgb8().into() };
    // JPEG stays JPEG, the rest becomes PNG: lossless, and accepted by every provider.
    let format = if format == ImageFormat::Jpeg { ImageFormat::Jpeg } else { ImageFormat::Png };
    let mut edge = max_edge.min(image.width().max(image.height()));
    loop {
        let scaled = if image.width().max(image.height()) > edge {
            image.resize(edge, edge, FilterType::CatmullRom)
        } else {
            image.clone()
        };
        let mut bytes = Vec::new();
        scaled.write_to(&mut Cursor::new(&mut bytes), format)?;
        if bytes.len() <= max_bytes || edge <= MIN_EDGE {
            return Ok(ScaledPicture { bytes, format, size, shown_size: (scaled.width(), scaled.height()) });
        }
        edge = edge * 3 / 4;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{Rgba, RgbaImage};

    fn noise(edge: u32) -> Vec<u8> {
        let mut state = 1_u64;
        let noise = RgbaImage::from_fn(edge, edge, |_, _| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            Rgba((state >> 32).to_le_bytes()[..4].try_into().unwrap())
        });
        let mut bytes = Vec::new();
        DynamicImage::ImageRgba8(noise).write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).unwrap();
        bytes
    }

    #[test]
    fn a_heavy_picture_is_made_smaller_until_it_fits() {
        let heavy = noise(200);
        assert!(heavy.len() > 150_000);
        let picture = fit(heavy.clone(), 1_000, 80_000).unwrap();
        assert!(picture.bytes.len() <= 80_000 && picture.size == (200, 200) && picture.shown_size.0 < 200);
        assert_eq!(picture.format, ImageFormat::Png);
        let shrunk = image::load_from_memory(&picture.bytes).unwrap();
        assert_eq!((shrunk.width(), shrunk.height()), picture.shown_size);
        assert!(shrunk.color().has_alpha());
        assert_eq!(
            fit(heavy.clone(), 1_000, 1_000_000).unwrap().bytes,
            heavy,
            "one that fits is not touched"
        );
        assert!(fit(heavy, 1_000, 1).unwrap().shown_size.0 <= MIN_EDGE, "it ends");
    }

    #[test]
    fn a_picture_that_claims_too_much_memory_is_refused() {
        let mut claims = noise(2);
        // Width and height in the PNG's header, and the header's checksum.
        claims[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
        let checksum = claims[12..29].iter().fold(u32::MAX, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
                (crc >> 1) ^ if crc & 1 == 1 { 0xEDB8_8320 } else { 0 }
            })
        });
        claims[29..33].copy_from_slice(&(!checksum).to_be_bytes());
        let error = fit(claims, 1_000, 1_000_000).err().unwrap();
        assert!(matches!(error, image::ImageError::Limits(_)), "{error}");
    }
}
