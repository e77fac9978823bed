// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { TOOL_KINDS } from "$lib/ipc/generated/protocol";
import { STEP_KINDS } from "$lib/state/step-group";
import { setLanguage } from "$lib/words/words.svelte";
import { countedWork } from "./tool-kinds";

describe("counted tools", () => {
  it("have kinds known to the page", () => {
    const kinds: readonly string[] = STEP_KINDS;
    expect(Object.values(TOOL_KINDS).filter((kind) => !kinds.includes(kind))).toEqual([]);
    expect(TOOL_KINDS["terminal"]).toBe("command");
  });

  it("are described by their action, joined as the language requires", async () => {
    const tools = [
      { tool: "grep", count: 2 },
      { tool: "terminal", count: 1 },
      { tool: "file_reader", count: 1 },
    ];
    expect(countedWork(tools)).toBe("3 reads, 1 command");
    await setLanguage("zh");
    expect(countedWork(tools)).toBe("3 次查看、1 条命令");
    await setLanguage("en");
  });
});
