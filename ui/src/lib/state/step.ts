/** A tool call as one row: icon, verb, object, result. Based on its view, never on the tool's name. */
import type { BrowserActionKind, CallView, CommandState, ToolView } from "$lib/ipc/types";
import type { IconName } from "$lib/icons";
import { offeredPage } from "./settings-command";

/** The action of a call, for its verb. */
export type StepAction =
  | "read"
  | "listed"
  | "viewed"
  | "wrote"
  | "edited"
  | "ran"
  | "found"
  | "searched"
  | "sought"
  | "fetched"
  | "planned"
  | "asked"
  | "invoked"
  | "delegated"
  | `browser_${BrowserActionKind}`
  | "installed"
  | "called";

/** The tense of an action: planned, current or past. */
export type Tense = "plan" | "now" | "done";

/** Returns the action a view shows. */
export function actionOf(view: ToolView | null): StepAction {
  switch (view?.type) {
    case "text":
      return "read";
    case "folder":
      return "listed";
    case "picture":
      return "viewed";
    case "diff":
      return view.change === "created" ? "wrote" : "edited";
    case "command":
      return "ran";
    case "paths":
      return "found";
    case "matches":
      return "searched";
    case "web_results":
      return "sought";
    case "web_page":
      return "fetched";
    case "todos":
      return "planned";
    case "feedback":
      return "asked";
    case "skill":
      return "invoked";
    case "library_offer":
      return "installed";
    case "sub_agent":
      return "delegated";
    case "browser":
      return `browser_${view.deed}`;
    case "refused":
    case "plain":
    case undefined:
      return "called";
    default:
      return view satisfies never;
  }
}

/** The icon of each action. */
export const stepIcons: Record<StepAction, IconName> = {
  read: "file-text",
  listed: "folder",
  viewed: "image",
  wrote: "file",
  edited: "pencil",
  ran: "terminal",
  found: "search",
  searched: "search",
  sought: "search",
  fetched: "file-text",
  planned: "list",
  asked: "chat",
  invoked: "bulb",
  delegated: "play",
  browser_look: "globe",
  browser_open: "globe",
  browser_tab: "globe",
  browser_read: "file-text",
  browser_picture: "image",
  browser_click: "pointer",
  browser_type: "keyboard",
  browser_press: "keyboard",
  browser_select: "list",
  browser_move: "scroll",
  browser_upload: "paperclip",
  browser_dialog: "chat",
  browser_wait: "history",
  browser_script: "terminal",
  installed: "skills",
  called: "box",
};

/** Returns the tense of a call; a refused one stays planned. */
export function tense(call: CallView | null): Tense {
  switch (call?.state.type) {
    case "ended":
      return call.state.status === "denied" ? "plan" : "done";
    case "started":
      return "now";
    default:
      return "plan";
  }
}

/** Returns whether a command ended with a failure. */
export function commandFailed(state: CommandState | null): boolean {
  switch (state?.type) {
    case "exited":
      return state.code !== 0;
    case "signalled":
    case "timed_out":
    case "ended_with_octo":
      return true;
    case "killed":
    case "running":
    case "waiting":
    case undefined:
      return false;
    default:
      return state satisfies never;
  }
}

/** Returns whether a call failed. */
export function failed(call: CallView | null): boolean {
  if (call?.state.type !== "ended") return false;
  if (call.state.status === "failed" || call.state.status === "interrupted") return true;
  // A command the person stopped did not fail, whatever its exit status.
  if (call.state.status === "stopped") return false;
  return call.view?.type === "command" && commandFailed(call.view.state);
}

/** Returns the file or folder of a call, once it certainly exists; null otherwise. */
export function existingFile(call: CallView | null): string | null {
  if (call?.state.type !== "ended" || call.state.status !== "done") return null;
  switch (call.view?.type) {
    case "text":
    case "folder":
    case "picture":
    case "diff":
      return call.view.path;
    default:
      return null;
  }
}

/** Returns whether a step is open by default: changes, failures, running commands and page offers are. */
export function opensByDefault(call: CallView | null): boolean {
  if (!call) return false;
  if (call.state.type === "asking") return false;
  if (failed(call) || call.view?.type === "refused") return true;
  if (call.view?.type === "diff") return call.state.type !== "ended" || call.state.status === "done";
  if (call.view?.type === "sub_agent") return call.state.type === "started";
  if (call.view?.type === "command") return call.state.type === "started" || offeredPage(call.view) !== null;
  return false;
}

/** Returns whether a step has details to open. */
export function hasBody(view: ToolView | null, result: string | null, output: string | null): boolean {
  if (result !== null || output !== null) return true;
  switch (view?.type) {
    case "command":
      return view.output !== null || view.command.includes("\n");
    case "paths":
      return view.paths.length > 0;
    case "matches":
      return view.files.length > 0;
    case "folder":
      return view.entries.length > 0;
    case "todos":
      return view.todos.length > 0;
    case "web_results":
      return view.results.length > 0;
    case "web_page":
      return view.text !== "";
    case "browser":
      return view.output !== "" || view.picture !== null;
    case "skill":
      return view.task !== "";
    case "library_offer":
      return view.skills.length > 0;
    case "text":
    case "picture":
    case "diff":
    case "feedback":
    case "sub_agent":
    case "refused":
      return true;
    case "plain":
      return view.text !== "";
    case undefined:
      return false;
    default:
      return view satisfies never;
  }
}
