// @vitest-environment jsdom
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import enErrors from "@words/en/errors.json";
import enUi from "@words/en/ui.json";
import chinese from "./chinese";
import { explain, explainBriefly, language, speak, t, tn } from "./words.svelte";

const allWords: Record<"en" | "zh", Record<string, string>> = { en: { ...enErrors, ...enUi }, zh: chinese };
const placeholders = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "").sort();

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(svelte|ts)$/.test(entry.name) && !entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes("generated"));
}

describe("words", () => {
  it("exist in both languages with the same placeholders", () => {
    expect(Object.keys(allWords.zh).sort()).toEqual(Object.keys(allWords.en).sort());
    for (const [key, words] of Object.entries(allWords.en)) {
      // Languages differ in which plural forms use the number.
      if (/\.(one|other)$/.test(key)) continue;
      expect(placeholders(allWords.zh[key] ?? ""), key).toEqual(placeholders(words));
    }
  });

  it("are filled and counted", async () => {
    await speak("en");
    expect(t("run.exit", { code: 101 })).toBe("exit 101");
    expect(tn("count.steps", 1)).toBe("1 step");
    expect(tn("count.lines", 1200)).toBe("1,200 lines");
    await speak("zh");
    expect(tn("count.steps", 1)).toBe("1 步");
    expect(document.documentElement.lang).toBe("zh-CN");
    await speak("en");
  });

  it("have the language's own separator between the items of a list the core names", async () => {
    const error = { key: "skill.unknown_near", args: { name: "mdel", near: "/model\u001f/mode" }, retryable: false };
    await speak("en");
    expect(explain(error)).toContain("/model, /mode?");
    await speak("zh");
    expect(explain(error)).toContain("/model、/mode？");
    await speak("en");
  });

  it("are those of the language that was chosen last, though another one comes later", async () => {
    const chinese = speak("zh");
    await speak("en");
    await chinese;
    expect([language(), t("toast.undo")]).toEqual(["en", "Undo"]);
  });

  it("never leave an error without words", async () => {
    expect(explain({ key: "no.such.key", args: {}, retryable: false })).toContain("no.such.key");
    const full = { key: "store.full", args: {}, retryable: true };
    expect(explainBriefly(full)).toBe("The disk is full.");
    await speak("zh");
    expect(explainBriefly(full)).toBe("磁盘已满。");
    expect(explain(full).length).toBeGreaterThan(explainBriefly(full).length);
    await speak("en");
  });

  it("are not written into components", () => {
    const prose = />\s*[A-Z][a-z]+(?: [a-z]+)+[.?]?\s*</;
    const found = sources("src/components").filter((path) => {
      const markup = readFileSync(path, "utf8")
        .replace(/<script[\s\S]*?<\/script>/g, "")
        .replace(/<!--[\s\S]*?-->/g, "");
      return prose.test(markup) || /(?:aria-label|title|placeholder)="[A-Z]/.test(markup);
    });
    expect(found).toEqual([]);
  });
});
