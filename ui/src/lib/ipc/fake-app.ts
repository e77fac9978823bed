/** A replay's answers about the app: its commands and profiles, its settings, and attachments. */
import type { FakeLibrary } from "./fake-library";
import { failure, newId } from "./fake-parts";
import type { FakeSettings } from "./fake-settings";
import type { AppRequest } from "./types";

const COMMANDS = ["new", "model", "mode", "undo", "redo", "help", "stop"].map((name) => ({
  name,
  description: null,
  description_zh: null,
  argument: name === "model" ? "name" : name === "mode" ? "ask | ask_risky | autonomous" : "",
  argument_zh: null,
}));

/** The parts shared by the fake core. */
interface ReplyContext {
  readonly library: FakeLibrary;
  /** Uploaded pictures, by hash. */
  readonly pictures: Map<string, string>;
}

export function appReply(call: AppRequest, settings: FakeSettings, { library, pictures }: ReplyContext): unknown {
  switch (call.type) {
    case "get_settings":
    case "change_settings":
    case "trust_certificates":
    case "save_search_provider":
    case "remove_search_provider":
    case "order_search_providers":
      return settings.answer(call);
    case "try_proxy":
      if (call.proxy.type === "manual") throw failure("settings.proxy_not_tried", { host: "github.com" });
      return { host: "github.com" };
    case "get_about":
      return {
        version: "0.1.0",
        home: "/home/mei/.octo",
        user_home: "/home/mei",
        system_language: navigator.language,
      };
    case "list_commands":
      return { commands: [...COMMANDS, ...library.commands(call.folder)] };
    case "list_profiles":
      return { profiles: ["general", "coding"].map((profile) => ({ profile, description: null })) };
    case "put_blob": {
      const blob = newId().repeat(2);
      pictures.set(blob, `data:image/png;base64,${call.base64}`);
      return { blob, media_type: "image/png", name: call.name };
    }
    case "attach_files":
      return {
        blocks: call.paths.map((path) => ({ type: "file", path })),
        refused: [failure("attach.missing", { path: "/home/mei/gone.txt" })],
        remarks: [],
      };
    default:
      return call satisfies never;
  }
}
