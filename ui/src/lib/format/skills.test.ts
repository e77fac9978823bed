// @vitest-environment jsdom
import type { SkillSuggestion } from "$lib/ipc/types";
import { setLanguage } from "$lib/words/words.svelte";
import { beforeAll, describe, expect, it } from "vitest";
import { costWords, filesWords, recentTime, lengthWords, warningWords } from "./skills";

beforeAll(() => setLanguage("en"));

describe("skill texts", () => {
  it("show when a skill was last used", () => {
    const now = new Date(2026, 10, 22, 14, 2).getTime();
    const dateAt = (day: number, hour: number): string => recentTime(new Date(2026, 10, day, hour, 5).getTime(), now);
    expect([dateAt(22, 0), dateAt(21, 23), dateAt(21, 0), dateAt(20, 23)]).toEqual([
      "00:05",
      "Yesterday",
      "Yesterday",
      "20 Nov",
    ]);
  });

  it("never show a paid draft as free", () => {
    const cost = (cost_nanos: number | null): string => costWords({ cost_nanos } as SkillSuggestion);
    expect([cost(null), cost(9_999_999), cost(10_000_000), cost(1_234_000_000)]).toEqual([
      "Unknown",
      "Less than $0.01",
      "$0.01",
      "$1.23",
    ]);
  });

  it("count files and scripts", () => {
    const file = (kind: "data" | "script") => ({ path: "x", size: 1, kind });
    expect(filesWords([file("data")])).toBe("1 file");
    expect(filesWords([file("data"), file("script"), file("script")])).toBe("3 files, 2 scripts");
    expect(lengthWords(1001, 4000)).toBe("1,001 of 4,000 characters");
  });

  it("find a warning's text among the page's words and the errors", () => {
    const remark = (key: string) => warningWords({ key, args: { name: "a", path: "/x" }, retryable: false });
    expect(remark("skills.discard")).toBe("Discard");
    expect(remark("attach.missing")).toContain("/x was not attached");
    expect(remark("no.such.key")).toContain("no.such.key");
  });
});
