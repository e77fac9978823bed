/**
 * The settings offered by an agent's command: `octo settings open PAGE [KEY VALUE]`, which changes nothing on its own.
 * Pure.
 */
import { type SettingsPage, settingsPageNamed } from "$lib/app/settings-pages";
import type { Settings, SettingsPatch, ToolView } from "$lib/ipc/types";
import list from "../../../../src-tauri/crates/octo-core/src/builtin/proposed-settings.json";

/** Matches the whole line: nothing else may be on it. */
const LINE = /^[ \t]*octo[ \t]+settings[ \t]+open[ \t]+(\S+)(?:[ \t]+(\w+)[ \t]+(\w+))?\s*$/;

/** The settings that may be proposed, by page and key: the core reads the same list. */
export const PROPOSED = list;

export type ProposedSetting = keyof typeof PROPOSED;

/** A setting proposed by the agent, on its page. */
export interface Proposal {
  readonly page: SettingsPage;
  readonly setting: ProposedSetting;
  readonly value: string | number;
}

const read = (view: ToolView | null): RegExpExecArray | null =>
  view?.type === "command" && view.state?.type === "exited" && view.state.code === 0 ? LINE.exec(view.command) : null;

/** Returns the page a successful command offers to open; null for an unknown page and any other call. */
export function offeredPage(view: ToolView | null): SettingsPage | null {
  return settingsPageNamed(read(view)?.[1]);
}

/** Returns the setting it proposes there; null if there is none, or it is not allowed. */
export function offeredSetting(view: ToolView | null): Proposal | null {
  const page = offeredPage(view);
  const [, , key, word] = read(view) ?? [];
  const name = `${page} ${key}`;
  if (page === null || word === undefined || !Object.hasOwn(PROPOSED, name)) return null;
  const setting = name as ProposedSetting;
  const range: { readonly may: readonly string[] } | { readonly from: number; readonly to: number } = PROPOSED[setting];
  if ("may" in range) return range.may.includes(word) ? { page, setting, value: word } : null;
  const value = Number(word);
  return Number.isInteger(value) && value >= range.from && value <= range.to ? { page, setting, value } : null;
}

/** Returns the patch of a proposal: adjacent settings keep their value. */
export function patchOf({ setting, value }: Proposal, settings: Settings): SettingsPatch {
  const [top = "", ...inside] = PROPOSED[setting].at;
  return { [top]: changed(settings[top as keyof Settings], inside, value) };
}

function changed(whole: unknown, path: readonly string[], value: string | number): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return value;
  const parts = whole as Readonly<Record<string, unknown>>;
  return { ...parts, [first]: changed(parts[first], rest, value) };
}
