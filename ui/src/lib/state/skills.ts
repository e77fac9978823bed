/** Rules of the page of skills: what is shown of which skill, and in which order. Pure. */
import type { SkillCard, SkillOrigin, SkillRef, SkillSuggestion } from "$lib/ipc/types";

/** Which skills are shown. */
export type SkillSource = "all" | "yours" | "folder" | "bundled";

/** Where a skill of an origin is listed. */
export function sourceOf(origin: SkillOrigin): Exclude<SkillSource, "all"> {
  switch (origin) {
    case "bundled":
      return "bundled";
    case "user":
    case "user_agents":
    case "user_claude":
      return "yours";
    case "project":
    case "project_agents":
    case "project_claude":
      return "folder";
  }
}

/** The other agent a skill was written for; null for Octo's own places. */
export function otherAgent(origin: SkillOrigin): "claude" | "agents" | null {
  if (origin === "user_claude" || origin === "project_claude") return "claude";
  return origin === "user_agents" || origin === "project_agents" ? "agents" : null;
}

/** Whether Octo may change a skill of an origin. */
export function isWritable(origin: SkillOrigin): boolean {
  return origin === "user" || origin === "project";
}

/** Whether a skill can be used at all, apart from the person's choice. */
export function isUsable(card: SkillCard): boolean {
  return card.error === null && card.trust === "trusted";
}

/** What one skill is told from another by. */
export function keyOf(skill: SkillRef): string {
  return JSON.stringify([skill.origin, skill.project, skill.name]);
}

/** What a skill does, in the language if its author wrote it in that. */
export function descriptionOf(card: SkillCard, language: "en" | "zh"): string {
  return (language === "zh" ? card.description_zh : null) ?? card.description;
}

/** The skills of a source that hold every word of a query, in their order. */
export function found(cards: readonly SkillCard[], source: SkillSource, query: string): readonly SkillCard[] {
  const words = query
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return cards.filter((card) => {
    if (source !== "all" && sourceOf(card.skill.origin) !== source) return false;
    const text = `/${card.skill.name}\n${card.description}\n${card.description_zh ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** The skills something is proposed for, by their names. */
export function suggestedNames(suggestions: readonly SkillSuggestion[]): ReadonlySet<string> {
  return new Set(suggestions.filter(({ kind }) => kind === "better").map(({ name }) => name));
}

/** A SKILL.md without what stands between its first two lines of `---`: the part that is Markdown. */
export function bodyOf(text: string): string {
  const lines = text.replace(/^\u{feff}/u, "").split(/\r?\n/);
  if (lines[0]?.trim() !== "---") return text;
  const end = lines.findIndex((line, at) => at > 0 && line.trim() === "---");
  return end < 0
    ? text
    : lines
        .slice(end + 1)
        .join("\n")
        .trimStart();
}

/** A path inside a folder, with the separator the folder's path has. */
export function inside(folder: string, name: string): string {
  const separator = folder.includes("\\") && !folder.includes("/") ? "\\" : "/";
  return folder.endsWith(separator) ? folder + name : folder + separator + name;
}

/** Whether something can be looked at: an absolute path, or an address that is encrypted. */
export function isSource(text: string): boolean {
  return /^https:\/\/[^/\s]+\/\S/.test(text) || /^(?:\/|[A-Za-z]:[\\/]|\\\\)\S/.test(text);
}

/** A message with a command at its start; one that stood there is replaced, and what was typed becomes its argument. */
export function commanded(name: string, text: string): string {
  return `/${name} ${text.replace(/^\s*\/[^\s/]+(?:\s+|$)/, "").trimStart()}`;
}
