//! Certificates the person trusts in addition to the system's.

use super::LiveSettings;
use octo_llm::Network;
use octo_protocol::{ApiError, CertificateSource, TrustedCertificates};
use std::{fs::File, io::Read, path::Path};

/// Maximum size of the stored text, in bytes: dozens of certificates. Every change of a setting transfers all
/// settings.
const LARGEST: usize = 64 * 1024;
/// Maximum size of a file that is read, in bytes: it may contain comments and other text.
const LARGEST_FILE: u64 = 1024 * 1024;
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

impl LiveSettings {
    /// Trusts other certificates, once they are read and usable.
    pub(super) async fn trust(&self, source: CertificateSource) -> Result<(), ApiError> {
        let (text, file) = match source {
            CertificateSource::Nothing => (None, None),
            CertificateSource::Text { pem } => (Some(pem), None),
            CertificateSource::File { path } => {
                let target = path.clone();
                let reading = tokio::task::spawn_blocking(move || read(&target)).await;
                let text = reading.map_err(|error| ApiError::new("internal").detail(error))??;
                (Some(text), Some(path))
            }
        };
        let certificates = text.map(|text| certificates(&text, file).map(Box::new)).transpose()?;
        self.change(move |_, settings| {
            settings.certificates = certificates;
            Ok(())
        })
        .await
    }
}

fn read(path: &str) -> Result<String, ApiError> {
    let unreadable = |detail: &dyn std::fmt::Display| {
        ApiError::new("certificates.unreadable").arg("path", path).detail(detail)
    };
    let file = Path::new(path);
    // Opening a pipe or a device could block forever.
    let kind = std::fs::metadata(file).map_err(|error| unreadable(&error))?;
    if !file.is_absolute() || !kind.is_file() {
        return Err(unreadable(&"not a file"));
    }
    let mut bytes = Vec::new();
    let file = File::open(file).map_err(|error| unreadable(&error))?;
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(too_large());
    }
    // Comments between certificates may be in any encoding; the certificates themselves are ASCII.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Extracts only the certificates from a text.
fn certificates(text: &str, file: Option<String>) -> Result<TrustedCertificates, ApiError> {
    if text.contains("PRIVATE KEY-----") {
        return Err(ApiError::new("certificates.private"));
    }
    let mut pem = String::new();
    let mut count = 0;
    let mut is_inside = false;
    for line in text.lines().map(str::trim) {
        is_inside |= line == BEGIN;
        if is_inside {
            pem.push_str(line);
            pem.push('\n');
        }
        if is_inside && line == END {
            is_inside = false;
            count += 1;
        }
    }
    if count == 0 {
        return Err(ApiError::new("certificates.none"));
    }
    if pem.len() > LARGEST {
        return Err(too_large());
    }
    let network = Network { extra_ca: Some(pem.clone().into_bytes()), ..Network::default() };
    match network.check() {
        Ok(()) if !is_inside => Ok(TrustedCertificates { pem, count, file }),
        Ok(()) => Err(ApiError::new("certificates.broken").detail("the last one has no end")),
        Err(error) => Err(ApiError::new("certificates.broken").detail(error.message)),
    }
}

fn too_large() -> ApiError {
    ApiError::new("certificates.too_large").arg("limit_kib", LARGEST / 1024)
}
