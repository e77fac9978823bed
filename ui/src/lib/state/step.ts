/** A tool call as one row: icon, verb, object, result. Based on its view, never on the tool's name. */
import type { BrowserActionKind, CallView, CommandState, ToolView } from "$lib/ipc/types";
import type { IconName } from "$lib/icons";
import { offeredPage } from "./settings-command";

/** The action of a call, for its verb. */
export type StepAction =
  | "read"
  | "list"
  | "view"
  | "create"
  | "edit"
  | "run"
  | "find"
  | "search"
  | "search_web"
  | "fetch"
  | "plan"
  | "ask"
  | "use_skill"
  | "delegate"
  | `browser_${BrowserActionKind}`
  | "install"
  | "call";

/** The tense of an action: planned, current or past. */
export type Tense = "plan" | "now" | "done";

/** Returns the action a view shows. */
export function actionOf(view: ToolView | null): StepAction {
  switch (view?.type) {
    case "text":
      return "read";
    case "folder":
      return "list";
    case "picture":
      return "view";
    case "diff":
      return view.change === "created" ? "create" : "edit";
    case "command":
      return "run";
    case "paths":
      return "find";
    case "matches":
      return "search";
    case "web_results":
      return "search_web";
    case "web_page":
      return "fetch";
    case "todos":
      return "plan";
    case "feedback":
      return "ask";
    case "skill":
      return "use_skill";
    case "library_offer":
      return "install";
    case "sub_agent":
      return "delegate";
    case "browser":
      return `browser_${view.deed}`;
    case "refused":
    case "plain":
    case undefined:
      return "call";
    default:
      return view satisfies never;
  }
}

/** The icon of each action. */
export const stepIcons: Record<StepAction, IconName> = {
  read: "file-text",
  list: "folder",
  view: "image",
  create: "file",
  edit: "pencil",
  run: "terminal",
  find: "search",
  search: "search",
  search_web: "search",
  fetch: "file-text",
  plan: "list",
  ask: "chat",
  use_skill: "bulb",
  delegate: "play",
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
  install: "skills",
  call: "box",
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

/** Returns whether a step is open by default: changes, failures, running commands, lost folders and page offers are. */
export function opensByDefault(call: CallView | null): boolean {
  if (!call) return false;
  if (call.state.type === "asking") return false;
  if (failed(call) || call.view?.type === "refused") return true;
  if (call.view?.type === "diff") return call.state.type !== "ended" || call.state.status === "done";
  if (call.view?.type === "sub_agent") return call.state.type === "started";
  if (call.view?.type === "command") {
    return call.state.type === "started" || call.view.lost_folder !== undefined || offeredPage(call.view) !== null;
  }
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
