import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const css = readFileSync("src/styles/tokens.css", "utf8");
const colours = (text: string) =>
  Object.fromEntries([...text.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map((match) => [match[1], match[2]])) as Record<
    string,
    string
  >;
const darkBlocks = [...css.matchAll(/\/\*dark\*\/([\s\S]*?)\/\*end\*\//g)].map((match) => match[1] ?? "");
const light = colours(css.slice(0, css.indexOf("@media (prefers-color-scheme")));
const dark = { ...light, ...colours(darkBlocks[0] ?? "") };

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5]
    .map((start) => parseInt(hex.slice(start, start + 2), 16) / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function ratio(a: string, b: string): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

const surfaces = ["bg", "bg-side", "bg-raised", "bg-sunken", "bg-user", "bg-hover", "bg-selected", "bg-on"];
const softColours = ["accent-soft", "warn-soft", "danger-soft", "ok-soft"];
const names = (start: string) => Object.keys(light).filter((name) => name.startsWith(start));
const pair = (texts: string[], backgrounds: string[], least: number) =>
  texts.flatMap((text) => backgrounds.map((ground) => [text, ground, least] as const));
const pairs = [
  ...pair(["text", "text-2", "text-3"], [...surfaces, ...softColours], 4.5),
  ...pair(["accent-text", "ok", "warn", "danger"], surfaces, 4.5),
  ...["ok", "warn", "danger"].map((name) => [name, `${name}-soft`, 4.5] as const),
  ["accent-text", "accent-soft", 4.5] as const,
  ["on-accent", "accent", 4.5] as const,
  ["on-danger", "danger-fill", 4.5] as const,
  ...pair(names("code-"), ["bg", "bg-raised", "bg-sunken", "add-bg", "del-bg"], 4.5),
  ...pair(names("ansi-"), ["bg-sunken"], 4.5),
  ...pair(["text"], ["add-bg", "add-word", "del-bg", "del-word"], 4.5),
  ...pair(["text-3"], ["add-bg", "del-bg"], 4.5),
  ["ok", "add-bg", 4.5] as const,
  ["danger", "del-bg", 4.5] as const,
  ...pair(["line-field", "accent"], ["bg", "bg-raised", "bg-side"], 3),
  ...pair(["focus"], [...surfaces, "accent-soft"], 3),
  ...pair(["warn-mark"], surfaces, 3),
];

describe("tokens", () => {
  it("have two equal dark blocks that define every colour", () => {
    expect(darkBlocks).toHaveLength(2);
    expect(darkBlocks[0]?.split(/\s+/)).toEqual(darkBlocks[1]?.split(/\s+/));
    expect(Object.keys(light).filter((name) => !(name in colours(darkBlocks[0] ?? "")))).toEqual([]);
  });

  it.each([
    ["light", light],
    ["dark", dark],
  ])("have enough contrast in %s", (_, theme) => {
    const poor = pairs.filter(([a, b, least]) => ratio(theme[a] ?? "#000000", theme[b] ?? "#000000") < least);
    expect(poor).toEqual([]);
  });
});
