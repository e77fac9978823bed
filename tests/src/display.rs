//! The private desktop's screen: reads a window's pixels, and closes a window as its frame would.

use anyhow::{Context as _, Result, bail};
use image::RgbImage;
use std::{path::Path, thread, time::Duration};
use x11rb::{
    CURRENT_TIME,
    connection::Connection as _,
    protocol::xproto::{
        Atom, AtomEnum, ClientMessageEvent, ConfigureWindowAux, ConnectionExt as _, EventMask, ImageFormat,
        MapState, Window,
    },
    rust_connection::RustConnection,
};

/// The part of a window checked to see whether it is painted, in pixels.
const MIDDLE: (u16, u16) = (480, 320);

/// More colours than any background, border or caret has.
const SHADES: usize = 16;

/// How long an application may take to react to its window's closing, before the test checks whether it asks.
const HEARD: Duration = Duration::from_millis(100);

/// A connection to the screen.
pub(crate) struct Display {
    connection: RustConnection,
    root: Window,
    protocols: Atom,
    delete: Atom,
}

impl Display {
    /// Connects to the display of this name, `:1` for example.
    pub(crate) fn connect(name: &str) -> Result<Self> {
        let (connection, screen) = x11rb::connect(Some(name))?;
        let root = connection.setup().roots.get(screen).context("the display has a screen")?.root;
        let atom = |name: &str| -> Result<Atom> {
            Ok(connection.intern_atom(false, name.as_bytes())?.reply()?.atom)
        };
        let (protocols, delete) = (atom("WM_PROTOCOLS")?, atom("WM_DELETE_WINDOW")?);
        Ok(Self { connection, root, protocols, delete })
    }

    /// The whole screen.
    pub(crate) fn root(&self) -> Window {
        self.root
    }

    /// Returns the visible windows that can be asked to close, the frontmost last.
    pub(crate) fn windows(&self) -> Result<Vec<Window>> {
        let mut found = Vec::new();
        for window in self.connection.query_tree(self.root)?.reply()?.children {
            // A window that disappeared meanwhile is skipped.
            let Ok(attributes) = self.connection.get_window_attributes(window)?.reply() else { continue };
            if attributes.map_state == MapState::VIEWABLE
                && !attributes.override_redirect
                && self.can_close(window)?
            {
                found.push(window);
            }
        }
        Ok(found)
    }

    /// The foremost of the windows that are shown.
    pub(crate) fn front(&self) -> Result<Window> {
        self.windows()?.last().copied().context("a window")
    }

    /// Returns the only visible window that can be asked to close.
    pub(crate) fn window(&self) -> Result<Window> {
        let found = self.windows()?;
        match found[..] {
            [window] => Ok(window),
            _ => bail!("one window was expected, {} are shown", found.len()),
        }
    }

    fn can_close(&self, window: Window) -> Result<bool> {
        let property =
            self.connection.get_property(false, window, self.protocols, AtomEnum::ATOM, 0, 32)?.reply();
        Ok(property
            .is_ok_and(|it| it.value32().is_some_and(|mut atoms| atoms.any(|atom| atom == self.delete))))
    }

    /// Asks the window to close, as the button in its frame does.
    pub(crate) fn close(&self, window: Window) -> Result<()> {
        let message =
            ClientMessageEvent::new(32, window, self.protocols, [self.delete, CURRENT_TIME, 0, 0, 0]);
        self.connection.send_event(false, window, EventMask::NO_EVENT, message)?.check()?;
        Ok(())
    }

    /// Closes the window of an application that exits with it, or asks first.
    pub(crate) fn close_and_confirm(&self, window: Window) -> Result<()> {
        self.close(window)?;
        thread::sleep(HEARD);
        // Closing it again while it asks is an answer. If it is gone, there is no question.
        if self.windows()?.contains(&window) {
            let _gone = self.close(window);
        }
        Ok(())
    }

    /// The width and height of the window, in pixels.
    pub(crate) fn size(&self, window: Window) -> Result<(u32, u32)> {
        let size = self.connection.get_geometry(window)?.reply()?;
        Ok((size.width.into(), size.height.into()))
    }

    /// Gives the window this size in the screen's upper left corner.
    pub(crate) fn resize(&self, window: Window, (width, height): (u32, u32)) -> Result<()> {
        let geometry = ConfigureWindowAux::new().x(0).y(0).width(width).height(height);
        self.connection.configure_window(window, &geometry)?.check()?;
        Ok(())
    }

    /// Returns whether the middle of the window shows more than its background: smooth letters have many
    /// shades.
    pub(crate) fn is_painted(&self, window: Window) -> Result<bool> {
        self.has_letters(window, MIDDLE)
    }

    /// Returns the same for the complete window.
    pub(crate) fn is_drawn(&self, window: Window) -> Result<bool> {
        self.has_letters(window, (u16::MAX, u16::MAX))
    }

    fn has_letters(&self, window: Window, max_size: (u16, u16)) -> Result<bool> {
        let size = self.connection.get_geometry(window)?.reply()?;
        let (width, height) = (size.width.min(max_size.0), size.height.min(max_size.1));
        let (x, y) = ((size.width - width) / 2, (size.height - height) / 2);
        let pixels = self
            .connection
            .get_image(ImageFormat::Z_PIXMAP, window, x.try_into()?, y.try_into()?, width, height, u32::MAX)?
            .reply()
            .context("a window is whole on the screen")?;
        // Called often while the application starts, so it must be cheap.
        let mut shades: Vec<&[u8]> = Vec::with_capacity(SHADES);
        for pixel in pixels.data.chunks_exact(4) {
            if !shades.contains(&pixel) {
                shades.push(pixel);
            }
            if shades.len() == SHADES {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How bright a point of the screen is.
    pub(crate) fn shade(&self, (x, y): (i16, i16)) -> Result<u8> {
        let point =
            self.connection.get_image(ImageFormat::Z_PIXMAP, self.root, x, y, 1, 1, u32::MAX)?.reply()?;
        point.data.first().copied().context("a point of the screen")
    }

    /// Returns the window's pixels on the screen, to detect changes.
    pub(crate) fn pixels(&self, window: Window) -> Result<Vec<u8>> {
        let size = self.connection.get_geometry(window)?.reply()?;
        let image = self.connection.get_image(
            ImageFormat::Z_PIXMAP,
            window,
            0,
            0,
            size.width,
            size.height,
            u32::MAX,
        )?;
        Ok(image.reply().context("a window is whole on the screen")?.data)
    }

    /// Saves what the window shows as a PNG.
    pub(crate) fn picture(&self, window: Window, path: &Path) -> Result<()> {
        let size = self.connection.get_geometry(window)?.reply()?;
        let picture = self
            .connection
            .get_image(ImageFormat::Z_PIXMAP, window, 0, 0, size.width, size.height, u32::MAX)?
            .reply()
            .context("a window is whole on the screen")?;
        if !matches!(picture.depth, 24 | 32) {
            bail!("a screen of {} bits is not read", picture.depth);
        }
        // Four bytes a pixel: blue, green, red, unused.
        let pixels = picture.data.chunks_exact(4).flat_map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect();
        RgbImage::from_raw(size.width.into(), size.height.into(), pixels)
            .context("as many pixels as the window has")?
            .save(path)
            .with_context(|| path.display().to_string())
    }
}
