/** Answers in place of the desktop, for the page in a plain browser. Not part of a production build. */
import { failure } from "./fake-parts";
import type { HostRequest } from "./types";

/** The folder the person picks. */
const PICKED = new URLSearchParams(location.search).get("pick") ?? "/home/mei/code/picked";

export function hostReply(call: HostRequest): unknown {
  switch (call.type) {
    case "pick_folder":
      return { type: "folder", path: PICKED };
    case "pick_files":
      return { type: "files", paths: ["/home/mei/code/picked/notes.txt", "/home/mei/code/picked/data.csv"] };
    case "read_pasted":
      return { type: "pasted", picture: null, paths: ["/home/mei/code/picked/notes.txt"], text: null };
    case "reveal_file":
      if (call.path.includes("gone")) throw failure("host.path_missing", { path: call.path });
      return { type: "done" };
    case "reveal":
    case "open_url":
    case "look":
    case "open_window":
    case "stay_open":
    case "hide_window":
    case "quit":
    case "restart":
    case "leave_quick_ask":
    case "hand_over":
    case "install_update":
    case "cancel_update":
      return { type: "done" };
    case "take_errands": {
      // As after the first click on the window's close button.
      const closing = new URLSearchParams(location.search).get("closing");
      if (closing === null) return { type: "errands", errands: [] };
      return { type: "errands", errands: [{ type: "ask_closing", back: closing === "start" ? "start" : "tray" }] };
    }
    case "get_update_download":
      return { type: "update_download", download: null };
    case "get_desktop":
      return {
        type: "desktop",
        state: {
          tray: { type: "able" },
          quick_ask: { type: "able" },
          autostart: { type: "able" },
          updates: { type: "unable", error: failure("updates.not_set_up") },
        },
      };
    case "look_for_update":
      return { type: "update", offer: { version: "0.2.0", notes: "Links open Octo.", released: null } };
    default:
      return call satisfies never;
  }
}
