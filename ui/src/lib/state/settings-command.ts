/**
 * What an agent's command offers of the settings: `octo settings open PAGE [KEY VALUE]`, which changes nothing by
 * itself. Pure.
 */
import type { SettingsPage } from "$lib/app/navigation.svelte";
import { settingsPages } from "$lib/app/settings-pages";
import type { SettingsPatch, ToolView } from "$lib/ipc/types";

/** The whole line: nothing may stand beside it. */
const LINE = /^[ \t]*octo[ \t]+settings[ \t]+open[ \t]+(\S+)(?:[ \t]+(\w+)[ \t]+(\w+))?\s*$/;

/** What a setting may be proposed to be: one of some words, or a number in a range. */
const PROPOSED = {
  theme: ["system", "light", "dark"],
  language: ["system", "en", "zh"],
  keep_warm: ["on", "off"],
  suggestions: ["on", "off"],
  live_turns: { from: 1, to: 16 },
  sub_agents: { from: 1, to: 8 },
} as const;

export type ProposedKey = keyof typeof PROPOSED;

/** A setting the agent proposes, on its page. */
export interface Proposal {
  readonly page: SettingsPage;
  readonly key: ProposedKey;
  readonly value: string;
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
  const [, , key, value] = read(view) ?? [];
  if (page === null || value === undefined || key === undefined || !Object.hasOwn(PROPOSED, key)) return null;
  const proposal = { page, key: key as ProposedKey, value };
  return patchOf(proposal) === null ? null : proposal;
}

/** The change it would be; null where there is no such value. */
export function patchOf({ key, value }: Proposal): SettingsPatch | null {
  const may: readonly string[] | { readonly from: number; readonly to: number } = PROPOSED[key];
  if ("from" in may) {
    const number = Number(value);
    return Number.isInteger(number) && number >= may.from && number <= may.to ? { [key]: number } : null;
  }
  return may.includes(value) ? { [key]: value } : null;
}
