/** Rules of the skills page: the visible details of each skill, and their order. Pure. */
import type { SkillCard, SkillOrigin, SkillRef, SkillSuggestion } from "$lib/ipc/types";

/** The skills to show. */
export type SkillSource = "all" | "yours" | "folder" | "bundled";

/** Returns the source an origin is listed under. */
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

/** Returns the other agent a skill was written for; null for Octo's own folders. */
export function otherAgent(origin: SkillOrigin): "claude" | "agents" | null {
  if (origin === "user_claude" || origin === "project_claude") return "claude";
  return origin === "user_agents" || origin === "project_agents" ? "agents" : null;
}

/** Returns whether Octo may change skills of an origin. */
export function isWritable(origin: SkillOrigin): boolean {
  return origin === "user" || origin === "project";
}

/** Returns whether a skill is usable, regardless of the person's choice. */
export function isUsable(card: SkillCard): boolean {
  return card.error === null && card.trust === "trusted";
}

/** Returns a unique key of a skill. */
export function keyOf(skill: SkillRef): string {
  return JSON.stringify([skill.origin, skill.project, skill.name]);
}

/** Returns a skill's description, in the language if its author provided it. */
export function descriptionOf(card: SkillCard, language: "en" | "zh"): string {
  return (language === "zh" ? card.description_zh : null) ?? card.description;
}

/** Returns the skills of a source that match every word of a query, in their order. */
export function matchingCards(cards: readonly SkillCard[], source: SkillSource, query: string): readonly SkillCard[] {
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

/** Returns the names of the skills with suggestions. */
export function suggestedNames(suggestions: readonly SkillSuggestion[]): ReadonlySet<string> {
  return new Set(suggestions.filter(({ kind }) => kind === "better").map(({ name }) => name));
}

/** Returns a SKILL.md without its front matter: the Markdown part. */
export function bodyOf(text: string): string {
  const lines = text.replace(/^\u{feff}/u, "").split(/\r?\n/);
  if (lines[0]?.trim() !== "---") return text;
  const end = lines.findIndex((line, index) => index > 0 && line.trim() === "---");
  return end < 0
    ? text
    : lines
        .slice(end + 1)
        .join("\n")
        .trimStart();
}

/** Joins a folder and a name with the folder's separator. */
export function inside(folder: string, name: string): string {
  const separator = folder.includes("\\") && !folder.includes("/") ? "\\" : "/";
  return folder.endsWith(separator) ? folder + name : folder + separator + name;
}

/** Returns whether a text can be previewed: an absolute path, or an encrypted address. */
export function isSource(text: string): boolean {
  return /^https:\/\/[^/\s]+\/\S/.test(text) || /^(?:\/|[A-Za-z]:[\\/]|\\\\)\S/.test(text);
}

/** Returns a message with a command at its start; it replaces an existing one, and the text becomes its argument. */
export function withCommand(name: string, text: string): string {
  return `/${name} ${text.replace(/^\s*\/[^\s/]+(?:\s+|$)/, "").trimStart()}`;
}
