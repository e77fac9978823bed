// @vitest-environment jsdom
import { expect, it, vi } from "vitest";
import { language, loadWords, setLanguage } from "./words.svelte";

vi.mock("./files", () => ({
  files: ["shared"],
  readFile: (code: string) => (code === "zh" ? Promise.reject(new Error("unreadable")) : Promise.resolve({})),
}));

it("keeps the current language if another cannot be loaded", async () => {
  await expect(setLanguage("zh")).rejects.toThrow("unreadable");
  expect(language()).toBe("en");
  await expect(loadWords("shared")).resolves.toBeUndefined();
});
