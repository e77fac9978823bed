// @vitest-environment jsdom
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { speak } from "$lib/words/words.svelte";
import { TOOL_KINDS, countedWork } from "./tool-kinds";

const TOOLS = join(import.meta.dirname, "../../../../src-tauri/crates/octo-tools/src");

/** Returns the tool names from their sources. */
function toolNames(): string[] {
  const sources = readdirSync(TOOLS, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".rs") && !/tests|testing/.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
    .join("\n");
  const consts = new Map(
    [...sources.matchAll(/const ([A-Z_]+): &str = "(\w+)";/g)].map(([, name, text]) => [name, text]),
  );
  return [...sources.matchAll(/const NAME: &'static str = ("?)(\w+)"?;/g)].map(([, quoted, name = ""]) =>
    quoted === "" ? (consts.get(name) ?? name) : name,
  );
}

describe("tools that are counted", () => {
  it("are all of them", () => {
    expect(Object.keys(TOOL_KINDS).sort()).toEqual(toolNames().sort());
  });

  it("are told by what they did, joined as the language does", async () => {
    const tools = [
      { tool: "grep", count: 2 },
      { tool: "terminal", count: 1 },
      { tool: "file_reader", count: 1 },
    ];
    expect(countedWork(tools)).toBe("3 reads, 1 command");
    await speak("zh");
    expect(countedWork(tools)).toBe("3 次查看、1 条命令");
    await speak("en");
  });
});
