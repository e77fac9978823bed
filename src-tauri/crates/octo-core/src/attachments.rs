//! Attachments of a person: pictures and PDF documents are kept as blobs, all other files are mentioned by
//! path. Also the pictures of the session's folder shown in an answer, which stay where they are.

use base64::Engine;
use octo_protocol::{ApiError, AttachmentResult, BlobRef, Block, SessionPicture};
use octo_runtime::blocking;
use octo_workspace::Blobs;
use std::{
    fs::{self, File},
    io::{ErrorKind, Read as _},
    path::Path,
};

/// Maximum size of a picture that is kept, in bytes. Providers accept less; it is scaled down before it is
/// sent.
const LARGEST_PICTURE: u64 = 20 * 1024 * 1024;
/// Maximum size of a folder's picture shown in an answer, in bytes: meanwhile it is in the page's memory as
/// text.
const LARGEST_SHOWN: u64 = 8 * 1024 * 1024;
/// The only document type models can see.
const PDF: &str = "application/pdf";
/// Appears in the trailer of an encrypted PDF.
const ENCRYPTED: &[u8] = b"/Encrypt";
/// Number of bytes read to detect a file's type; every known picture format is recognised by its first few.
const HEAD: u64 = 4096;
/// Maximum number of files attached at once.
const AT_ONCE: usize = 200;
/// Maximum size of a document that models are shown, in bytes: Bedrock's limit, the lowest of the four
/// protocols'. A larger one is mentioned by its path and read with the tools.
const LARGEST_DOCUMENT: u64 = 4_500_000;
/// The picture types models can see.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Keeps a picture received as bytes: pasted, or dropped from another application.
pub(crate) async fn put_blob(blobs: Blobs, base64: &str, name: String) -> Result<BlobRef, ApiError> {
    let decoded = u64::try_from(base64.len() / 4 * 3).unwrap_or(u64::MAX);
    if decoded > LARGEST_PICTURE + 2 {
        return Err(too_large());
    }
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(base64)
        .map_err(|error| ApiError::new("blob.unreadable").detail(error))?;
    if bytes.len() as u64 > LARGEST_PICTURE {
        return Err(too_large());
    }
    let media_type =
        picture_type(&bytes).ok_or_else(|| ApiError::new("blob.no_picture").arg("name", &name))?;
    let result = tokio::task::spawn_blocking(move || keep(&blobs, &bytes)).await;
    let blob = result.map_err(|error| ApiError::new("internal").detail(error))??;
    Ok(BlobRef { blob, media_type: media_type.to_owned(), name })
}

/// Returns a picture mentioned in an answer. It is read only from the session's folder: a model's text must not
/// make the window read other files.
pub(crate) async fn picture(folder: String, path: String) -> Result<SessionPicture, ApiError> {
    blocking(move || read_picture(&path, Path::new(&folder))).await
}

/// Makes blocks of files. A file that cannot be attached does not prevent the others.
pub(crate) async fn attach_files(blobs: Blobs, mut paths: Vec<String>) -> Result<AttachmentResult, ApiError> {
    let attaching = tokio::task::spawn_blocking(move || {
        let mut result = AttachmentResult { blocks: Vec::new(), refused: Vec::new(), remarks: Vec::new() };
        if paths.len() > AT_ONCE {
            let excess = paths.split_off(AT_ONCE).len();
            result
                .refused
                .push(ApiError::new("attach.too_many").arg("limit", AT_ONCE).arg("left_out", excess));
        }
        for path in paths {
            match attach(&blobs, &path) {
                Ok((block, remark)) => {
                    result.blocks.push(block);
                    result.remarks.extend(remark);
                }
                Err(error) => result.refused.push(error),
            }
        }
        result
    });
    attaching.await.map_err(|error| ApiError::new("internal").detail(error))
}

/// Returns the block of one file, with a remark for the person.
fn attach(blobs: &Blobs, path: &str) -> Result<(Block, Option<ApiError>), ApiError> {
    let file_path = Path::new(path);
    let unreadable = |error: std::io::Error| {
        let key = match error.kind() {
            ErrorKind::NotFound => "attach.missing",
            ErrorKind::PermissionDenied => "attach.forbidden",
            _ => "attach.unreadable",
        };
        ApiError::new(key).arg("path", path).detail(error)
    };
    if !file_path.is_absolute() {
        return Err(ApiError::new("attach.missing").arg("path", path));
    }
    let name_only = || Block::File { path: path.to_owned() };
    // Opening a pipe or a device could block forever.
    let kind = fs::metadata(file_path).map_err(unreadable)?;
    if kind.is_dir() {
        fs::read_dir(file_path).map_err(unreadable)?;
        return Ok((name_only(), None));
    }
    if !kind.is_file() {
        return Err(ApiError::new("attach.no_file").arg("path", path));
    }
    let mut file = File::open(file_path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.by_ref().take(HEAD).read_to_end(&mut bytes).map_err(unreadable)?;
    let name =
        file_path.file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned());
    if octo_workspace::media_type(&bytes) == PDF {
        let budget = (LARGEST_DOCUMENT + 1).saturating_sub(bytes.len() as u64);
        file.take(budget).read_to_end(&mut bytes).map_err(unreadable)?;
        let is_large = bytes.len() as u64 > LARGEST_DOCUMENT;
        if is_large || is_locked(&bytes) {
            let key = if is_large { "attach.document_as_file" } else { "attach.locked_as_file" };
            let remark = ApiError::new(key).arg("name", name).arg("limit_mb", megabytes(LARGEST_DOCUMENT));
            return Ok((name_only(), Some(remark)));
        }
        let blob = keep(blobs, &bytes)?;
        let document = Block::Document { blob, media_type: PDF.to_owned(), name, path: path.to_owned() };
        return Ok((document, None));
    }
    let Some(media_type) = picture_type(&bytes) else { return Ok((name_only(), None)) };
    let budget = (LARGEST_PICTURE + 1).saturating_sub(bytes.len() as u64);
    file.take(budget).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST_PICTURE {
        let remark = ApiError::new("attach.picture_as_file").arg("name", name).arg("limit_mib", mib());
        return Ok((name_only(), Some(remark)));
    }
    let blob = keep(blobs, &bytes)?;
    Ok((Block::Image { blob, media_type: media_type.to_owned(), name }, None))
}

fn read_picture(name: &str, folder: &Path) -> Result<SessionPicture, ApiError> {
    let missing_error = || ApiError::new("picture.missing").arg("path", name);
    // Both resolved: a link could lead out.
    let folder = octo_workspace::resolve_links(folder).map_err(|_| missing_error())?;
    let path = octo_workspace::linked_file(name, &folder).ok_or_else(missing_error)?;
    if !octo_workspace::is_inside(&folder, &path) {
        return Err(ApiError::new("picture.elsewhere").arg("path", name));
    }
    let unreadable = |error: std::io::Error| missing_error().detail(error);
    // Opening a pipe or a device could block forever.
    let kind = fs::metadata(&path).map_err(unreadable)?;
    if !kind.is_file() {
        return Err(missing_error());
    }
    let mut bytes = Vec::new();
    let file = File::open(&path).map_err(unreadable)?;
    file.take(LARGEST_SHOWN + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    let media = picture_type(&bytes).ok_or_else(|| ApiError::new("picture.other").arg("path", name))?;
    if bytes.len() as u64 > LARGEST_SHOWN {
        return Err(ApiError::new("picture.too_large")
            .arg("path", name)
            .arg("limit_mib", LARGEST_SHOWN >> 20));
    }
    let base64 = base64::engine::general_purpose::STANDARD.encode(&bytes);
    Ok(SessionPicture { media: media.to_owned(), base64 })
}

/// Whether a PDF is encrypted: providers refuse it, and with it every later message of the conversation.
fn is_locked(pdf: &[u8]) -> bool {
    pdf.windows(ENCRYPTED.len()).any(|window| window == ENCRYPTED)
}

fn keep(blobs: &Blobs, bytes: &[u8]) -> Result<octo_protocol::BlobHash, ApiError> {
    blobs.put(bytes).map_err(|error| ApiError::new("blob.not_kept").detail(error))
}

/// Returns the media type, if it is a picture models can see.
fn picture_type(bytes: &[u8]) -> Option<&'static str> {
    let media_type = octo_workspace::media_type(bytes);
    PICTURES.into_iter().find(|format| *format == media_type)
}

/// Formats megabytes with one decimal place.
fn megabytes(bytes: u64) -> String {
    format!("{}.{}", bytes / 1_000_000, bytes / 100_000 % 10)
}

fn mib() -> u64 {
    LARGEST_PICTURE / (1024 * 1024)
}

fn too_large() -> ApiError {
    ApiError::new("blob.too_large").arg("limit_mib", mib())
}
