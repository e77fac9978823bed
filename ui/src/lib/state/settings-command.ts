/**
 * What an agent's command offers of the settings: `octo settings open PAGE [KEY VALUE]`, which changes nothing by
 * itself. Pure.
 */
import type { SettingsPage } from "$lib/app/navigation.svelte";
import { settingsPages } from "$lib/app/settings-pages";
import type { Settings, SettingsPatch, ToolView } from "$lib/ipc/types";
import list from "../../../../src-tauri/crates/octo-core/src/library/proposed-settings.json";

/** The whole line: nothing may stand beside it. */
const LINE = /^[ \t]*octo[ \t]+settings[ \t]+open[ \t]+(\S+)(?:[ \t]+(\w+)[ \t]+(\w+))?\s*$/;

/** What may be proposed, by page and key: the core reads the same list. */
export const PROPOSED = list;

export type ProposedSetting = keyof typeof PROPOSED;

/** A setting the agent proposes, on its page. */
export interface Proposal {
  readonly page: SettingsPage;
  readonly setting: ProposedSetting;
  readonly value: string | number;
}

const read = (view: ToolView | null): RegExpExecArray | null =>
  view?.type === "command" && view.state?.type === "exited" && view.state.code === 0 ? LINE.exec(view.command) : null;

/** The page a command that ended well offers to open; null for every other call, and for a page there is none of. */
export function offeredPage(view: ToolView | null): SettingsPage | null {
  const name = read(view)?.[1];
  return settingsPages.find((page) => page.id === name)?.id ?? null;
}

/** The setting it proposes there; null where it proposes none, or what cannot be. */
export function offeredSetting(view: ToolView | null): Proposal | null {
  const page = offeredPage(view);
  const [, , key, word] = read(view) ?? [];
  const named = `${page} ${key}`;
  if (page === null || word === undefined || !Object.hasOwn(PROPOSED, named)) return null;
  const setting = named as ProposedSetting;
  const range: { readonly may: readonly string[] } | { readonly from: number; readonly to: number } = PROPOSED[setting];
  if ("may" in range) return range.may.includes(word) ? { page, setting, value: word } : null;
  const value = Number(word);
  return Number.isInteger(value) && value >= range.from && value <= range.to ? { page, setting, value } : null;
}

/** The change it would be: what stands beside it in the settings stays. */
export function patchOf({ setting, value }: Proposal, settings: Settings): SettingsPatch {
  const [top = "", ...inside] = PROPOSED[setting].at;
  return { [top]: changed(settings[top as keyof Settings], inside, value) };
}

function changed(whole: unknown, at: readonly string[], value: string | number): unknown {
  const [first, ...rest] = at;
  if (first === undefined) return value;
  const parts = whole as Readonly<Record<string, unknown>>;
  return { ...parts, [first]: changed(parts[first], rest, value) };
}
