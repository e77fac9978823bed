import { describe, expect, it } from "vitest";
import { commandsFor, composing, normalised, recall, commandWithoutArgument } from "./composing";

const command = { description: null, description_zh: null, argument: "", argument_zh: null };
const commands = ["new", "model", "mode", "help", "stop"].map((name) => ({ ...command, name }));
const skills = ["release-notes", "mode-check", "pdf-forms"].map((name) => ({
  ...command,
  name,
  description: "What it does",
  argument: name === "release-notes" ? "tag" : "",
}));

describe("composing", () => {
  it("turns a Chinese keyboard's leading mark into a slash", () => {
    expect(normalised("／model")).toBe("/model");
    expect(normalised("、help")).toBe("/help");
    expect(normalised("一、二")).toBe("一、二");
  });

  it("offers commands while a name is typed, exact and prefix matches first", () => {
    const names = (text: string) => commandsFor(text, commands)?.map((command) => command.name) ?? null;
    expect(names("/")).toEqual(["new", "model", "mode", "help", "stop"]);
    expect(names("/mo")).toEqual(["model", "mode"]);
    expect(names("/mode")).toEqual(["mode", "model"]);
    expect(names("/el")).toEqual(["model", "help"]);
    expect(names("/model ")).toBeNull();
    expect(names("a /mo")).toBeNull();
  });

  it("matches skills by letters, built-in commands first among equals", () => {
    const names = (text: string) => commandsFor(text, [...skills, ...commands])?.map((command) => command.name) ?? null;
    expect(names("/mo")).toEqual(["model", "mode", "mode-check"]);
    expect(names("/rn")).toEqual(["release-notes"]);
    expect(names("/notes")).toEqual(["release-notes"]);
    expect(names("/PDF")).toEqual(["pdf-forms"]);
    expect(names("/mode-check")).toEqual(["mode-check"]);
    expect(names("/zzz")).toEqual([]);
  });

  it("hints at the argument of a command until one is typed", () => {
    expect(commandWithoutArgument("/release-notes ", skills)?.argument).toBe("tag");
    expect(commandWithoutArgument("/release-notes", skills)).toBeNull();
    expect(commandWithoutArgument("/release-notes 0.9", skills)).toBeNull();
    expect(commandWithoutArgument("/pdf-forms ", skills)).toBeNull();
    expect(commandWithoutArgument("/unknown ", skills)).toBeNull();
  });

  it("leaves keys to the input method, also if only code 229 identifies it", () => {
    expect(composing({ isComposing: true, keyCode: 13 })).toBe(true);
    expect(composing({ isComposing: false, keyCode: 229 })).toBe(true);
    expect(composing({ isComposing: false, keyCode: 13 })).toBe(false);
  });

  it("recalls earlier messages and returns to the empty field", () => {
    const history = ["first", "second"];
    expect(recall(history, 0, 1)).toEqual({ at: 1, text: "second" });
    expect(recall(history, 1, 1)).toEqual({ at: 2, text: "first" });
    expect(recall(history, 2, 1)).toEqual({ at: 2, text: "first" });
    expect(recall(history, 1, -1)).toEqual({ at: 0, text: "" });
    expect(recall([], 0, 1)).toEqual({ at: 0, text: "" });
  });
});
