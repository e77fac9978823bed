// @vitest-environment jsdom
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { explain, explainBriefly, language, setLanguage, t, tn } from "./words.svelte";

const WORDS = join(import.meta.dirname, "../../../../words");

function read(code: "en" | "zh", file: string): Record<string, string> {
  return JSON.parse(readFileSync(join(WORDS, code, file), "utf8")) as Record<string, string>;
}

const placeholders = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "").sort();

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(svelte|ts)$/.test(entry.name) && !entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes("generated"));
}

describe("words", () => {
  it("are in files of the same names in both languages", () => {
    expect(readdirSync(join(WORDS, "zh")).sort()).toEqual(readdirSync(join(WORDS, "en")).sort());
  });

  it.each(readdirSync(join(WORDS, "en")))("of %s exist in both languages with the same placeholders", (file) => {
    const [english, chinese] = [read("en", file), read("zh", file)];
    expect(Object.keys(chinese).sort()).toEqual(Object.keys(english).sort());
    for (const [key, words] of Object.entries(english)) {
      // Languages differ in which plural forms use the number.
      if (/\.(one|other)$/.test(key)) continue;
      expect(placeholders(chinese[key] ?? ""), key).toEqual(placeholders(words));
    }
  });

  it("are filled in and pluralised", async () => {
    await setLanguage("en");
    expect(t("run.exit", { code: 101 })).toBe("exit 101");
    expect(tn("count.steps", 1)).toBe("1 step");
    expect(tn("count.lines", 1200)).toBe("1,200 lines");
    await setLanguage("zh");
    expect(tn("count.steps", 1)).toBe("1 步");
    expect(document.documentElement.lang).toBe("zh-CN");
    await setLanguage("en");
  });

  it("join lists with the language's separator", async () => {
    const error = { key: "skill.unknown_near", args: { name: "mdel", near: "/model\u001f/mode" }, retryable: false };
    await setLanguage("en");
    expect(explain(error)).toContain("/model, /mode?");
    await setLanguage("zh");
    expect(explain(error)).toContain("/model、/mode？");
    await setLanguage("en");
  });

  it("are those of the language chosen last, even if another loads later", async () => {
    const chinese = setLanguage("zh");
    await setLanguage("en");
    await chinese;
    expect([language(), t("toast.undo")]).toEqual(["en", "Undo"]);
  });

  it("always explain an error", async () => {
    expect(explain({ key: "no.such.key", args: {}, retryable: false })).toContain("no.such.key");
    const full = { key: "store.full", args: {}, retryable: true };
    expect(explainBriefly(full)).toBe("The disk is full.");
    await setLanguage("zh");
    expect(explainBriefly(full)).toBe("磁盘已满。");
    expect(explain(full).length).toBeGreaterThan(explainBriefly(full).length);
    await setLanguage("en");
  });

  it("are not written into components", () => {
    const prose = />\s*[A-Z][a-z]+(?: [a-z]+)+[.?]?\s*</;
    const offenders = sources("src/components").filter((path) => {
      const markup = readFileSync(path, "utf8")
        .replace(/<script[\s\S]*?<\/script>/g, "")
        .replace(/<!--[\s\S]*?-->/g, "");
      return prose.test(markup) || /(?:aria-label|title|placeholder)="[A-Z]/.test(markup);
    });
    expect(offenders).toEqual([]);
  });
});
