/** Skills as text. */
import type { ApiError, SkillCard, SkillFile, SkillSuggestion } from "$lib/ipc/types";
import { explain, language, lookUp, t, tn } from "$lib/words/words.svelte";
import { clock, formatDay, midnight } from "./figures";

/** Describes a repair of a skill, or its error. The words are in the page's catalogue, not the errors'. */
export function warningWords(warning: ApiError): string {
  return lookUp(warning.key, warning.args) ?? lookUp(`skills.warning.${warning.key}`, warning.args) ?? explain(warning);
}

/** Formats a past moment: the time today, then Yesterday, then the day. */
export function recentTime(time: number, now: number): string {
  const today = midnight(now);
  if (time >= today) return clock(time, language());
  const before = new Date(today);
  before.setDate(before.getDate() - 1);
  return time >= before.getTime() ? t("skills.yesterday") : formatDay(time, now, language());
}

/** Describes when a skill was last used. */
export function usedWords(card: SkillCard, now: number): string {
  return card.used_at === null ? t("skills.never_used") : recentTime(card.used_at, now);
}

/** Formats the cost of making a suggestion, in whole cents. */
export function costWords(suggestion: SkillSuggestion): string {
  if (suggestion.cost_nanos === null) return t("skills.cost_unknown");
  const dollars = suggestion.cost_nanos / 1e9;
  return dollars < 0.01 ? t("skills.cost_small") : `$${dollars.toFixed(2)}`;
}

/** Formats a text's length and the intended maximum, in characters. */
export function lengthWords(n: number, limit: number): string {
  const format = (number: number): string => new Intl.NumberFormat(language()).format(number);
  return t("editor.count", { n: format(n), most: format(limit) });
}

/** Counts the files, and the scripts among them. */
export function filesWords(files: readonly SkillFile[]): string {
  const scripts = files.filter((file) => file.kind === "script").length;
  const all = tn("count.files", files.length);
  return scripts === 0 ? all : t("skills.files_scripts", { files: all, scripts: tn("skills.scripts", scripts) });
}
