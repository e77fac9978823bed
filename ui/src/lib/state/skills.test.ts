import type { SkillCard, SkillOrigin } from "$lib/ipc/types";
import { describe, expect, it } from "vitest";
import * as rules from "./skills";

const card = (name: string, origin: SkillOrigin, change: Partial<SkillCard> = {}): SkillCard => ({
  skill: { name, origin, project: origin.startsWith("project") ? "/home/mei/harbor" : null },
  description: `What ${name} is for`,
  description_zh: null,
  argument: "",
  folder: `/skills/${name}`,
  way: "inline",
  caller: "anyone",
  trust: "trusted",
  on: "on",
  automatic: "on",
  warnings: [],
  error: null,
  shadows: null,
  used_at: null,
  versions: 0,
  ...change,
});
const cards = [
  card("review", "project"),
  card("notes", "user", { description_zh: "发布说明" }),
  card("forms", "user_claude"),
  card("doctor", "bundled"),
];

describe("skills", () => {
  it("are found by source and by every word", () => {
    const names = (source: rules.SkillSource, query = "") =>
      rules.matchingCards(cards, source, query).map((c) => c.skill.name);
    expect(names("all")).toEqual(["review", "notes", "forms", "doctor"]);
    expect(names("yours")).toEqual(["notes", "forms"]);
    expect(names("folder")).toEqual(["review"]);
    expect(names("bundled")).toEqual(["doctor"]);
    expect(names("all", " FOR what  forms ")).toEqual(["forms"]);
    expect(names("all", "/not")).toEqual(["notes"]);
    expect(names("all", "说明")).toEqual(["notes"]);
    expect(names("bundled", "notes")).toEqual([]);
  });

  it("are writable only in Octo's folders, and usable once accepted", () => {
    const origins: SkillOrigin[] = [
      "bundled",
      "user",
      "user_agents",
      "user_claude",
      "project",
      "project_agents",
      "project_claude",
    ];
    expect(origins.filter(rules.isWritable)).toEqual(["user", "project"]);
    expect(origins.filter((origin) => rules.otherAgent(origin) !== null)).toEqual([
      "user_agents",
      "user_claude",
      "project_agents",
      "project_claude",
    ]);
    expect(rules.isUsable(card("a", "project"))).toBe(true);
    expect(rules.isUsable(card("a", "project", { trust: "unseen" }))).toBe(false);
    expect(rules.isUsable(card("a", "project", { trust: "changed" }))).toBe(false);
    const error = { key: "x", args: {}, retryable: false };
    expect(rules.isUsable(card("a", "user", { error }))).toBe(false);
  });

  it("are identified by location and name, and described in the person's language if possible", () => {
    expect(rules.keyOf(card("a", "user").skill)).not.toBe(rules.keyOf(card("a", "bundled").skill));
    expect(rules.descriptionOf(cards[1] ?? card("", "user"), "zh")).toBe("发布说明");
    expect(rules.descriptionOf(cards[0] ?? card("", "user"), "zh")).toBe("What review is for");
  });

  it.each([
    ["---\nname: a\n---\n\n# Title\ntext", "# Title\ntext"],
    ["\u{feff}---\r\nname: a\r\n---\r\nbody", "body"],
    ["# no front matter\n---\nb", "# no front matter\n---\nb"],
    ["---\nnever closed", "---\nnever closed"],
  ])("show the Markdown of %j", (text, body) => expect(rules.bodyOf(text)).toBe(body));

  it.each([
    ["https://github.com/a/b", true],
    ["http://github.com/a/b", false],
    ["https://", false],
    ["https://host/", false],
    ["git@github.com:a/b", false],
    ["/home/mei/skill.zip", true],
    ["C:\\skills\\a.zip", true],
    ["skill.zip", false],
    ["", false],
  ])("can be looked for in %j: %s", (text, can) => expect(rules.isSource(text)).toBe(can));

  it("use the folder's path separator", () => {
    expect(rules.inside("/home/mei", "a.zip")).toBe("/home/mei/a.zip");
    expect(rules.inside("/", "a.zip")).toBe("/a.zip");
    expect(rules.inside("C:\\Users\\mei", "a.zip")).toBe("C:\\Users\\mei\\a.zip");
  });

  it.each([
    ["", "/notes "],
    ["0.9", "/notes 0.9"],
    ["/review the code", "/notes the code"],
    ["/review", "/notes "],
    ["/home/mei is full", "/notes /home/mei is full"],
  ])("head what was typed: %j", (text, expected) => expect(rules.withCommand("notes", text)).toBe(expected));
});
