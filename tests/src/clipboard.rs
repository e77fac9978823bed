//! Clipboard content: a program on the private desktop that owns it, and delivers it to any program that
//! pastes.

use crate::Desktop;
use anyhow::{Context as _, Result, ensure};
use std::thread;
use x11rb::{
    CURRENT_TIME,
    connection::Connection as _,
    protocol::{
        Event,
        xproto::{
            Atom, AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, PropMode, SELECTION_NOTIFY_EVENT,
            SelectionNotifyEvent, SelectionRequestEvent, Window, WindowClass,
        },
    },
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

/// Maximum size in bytes: the content must fit into one answer, as larger pictures do not.
const LARGEST: usize = 200_000;

struct ClipboardOwner {
    connection: RustConnection,
    owner: Window,
    targets: Atom,
    kinds: Vec<(Atom, Vec<u8>)>,
}

impl Desktop {
    /// Copies content of these types, for example `image/png`, as a screenshot program does. It remains until
    /// something else is copied.
    ///
    /// # Errors
    /// When the display does not accept it, or it is too large for one answer.
    pub fn copy(&self, kinds: &[(&str, &[u8])]) -> Result<()> {
        for (kind, bytes) in kinds {
            ensure!(bytes.len() <= LARGEST, "{} bytes of {kind} are too many for one answer", bytes.len());
        }
        let (connection, screen) = x11rb::connect(Some(&self.screen()?))?;
        let root = connection.setup().roots.get(screen).context("the display has a screen")?.root;
        let atom = |name: &str| -> Result<Atom> {
            Ok(connection.intern_atom(false, name.as_bytes())?.reply()?.atom)
        };
        let (clipboard, targets) = (atom("CLIPBOARD")?, atom("TARGETS")?);
        let kinds = kinds.iter().map(|(kind, bytes)| Ok((atom(kind)?, bytes.to_vec())));
        let kinds = kinds.collect::<Result<Vec<_>>>()?;
        let owner = connection.generate_id()?;
        let (class, aux) = (WindowClass::INPUT_ONLY, CreateWindowAux::new());
        connection.create_window(0, owner, root, 0, 0, 1, 1, 0, class, x11rb::COPY_FROM_PARENT, &aux)?;
        connection.set_selection_owner(owner, clipboard, CURRENT_TIME)?;
        ensure!(
            connection.get_selection_owner(clipboard)?.reply()?.owner == owner,
            "somebody else has the clipboard"
        );
        let copied = ClipboardOwner { connection, owner, targets, kinds };
        thread::Builder::new().name("clipboard".to_owned()).spawn(move || copied.give())?;
        Ok(())
    }
}

impl ClipboardOwner {
    /// Delivers it to any requester, until something else is copied or the display ends.
    fn give(self) {
        while let Ok(event) = self.connection.wait_for_event() {
            let message = match event {
                Event::SelectionRequest(request) => self.answer(&request),
                Event::SelectionClear(_) => return,
                _ => Ok(()),
            };
            if message.is_err() {
                return;
            }
        }
    }

    fn answer(&self, request: &SelectionRequestEvent) -> Result<()> {
        let (requestor, at) = (request.requestor, request.property);
        let property = if request.target == self.targets {
            let kinds: Vec<Atom> =
                [self.targets].into_iter().chain(self.kinds.iter().map(|(kind, _)| *kind)).collect();
            self.connection.change_property32(PropMode::REPLACE, requestor, at, AtomEnum::ATOM, &kinds)?;
            at
        } else if let Some((kind, bytes)) = self.kinds.iter().find(|(kind, _)| *kind == request.target) {
            self.connection.change_property8(PropMode::REPLACE, requestor, at, *kind, bytes)?;
            at
        } else {
            // It is not available in this format.
            x11rb::NONE
        };
        let notification = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: request.time,
            requestor,
            selection: request.selection,
            target: request.target,
            property,
        };
        self.connection.send_event(false, requestor, EventMask::NO_EVENT, notification)?;
        self.connection.flush()?;
        Ok(())
    }
}

impl Drop for ClipboardOwner {
    fn drop(&mut self) {
        // The end of the connection removes it as well.
        let _gone = self.connection.destroy_window(self.owner);
    }
}
