import { describe, expect, it } from "vitest";
import { folderChoices } from "./folders";

const HOME = "/home/mei";
const session = (folder: string, updated_at: number) => ({ folder, updated_at });
const paths = (...args: Parameters<typeof folderChoices>) => folderChoices(...args).map(({ path }) => path);

describe("the folders the list can be narrowed to", () => {
  it("are the recent ones and every other one sessions work in, once each", () => {
    const recent = Array.from({ length: 10 }, (_, n) => `${HOME}/recent-${n}`);
    const sessions = [
      session(`${HOME}/old`, 1),
      session(`${HOME}/older`, 2),
      session(`${HOME}/recent-3`, 3),
      session(`${HOME}/old`, 4),
    ];
    expect(paths(recent, sessions, undefined, HOME)).toEqual([...recent, `${HOME}/old`, `${HOME}/older`]);
  });

  it("have the one that is chosen, which may be in none of them", () => {
    expect(paths(["/a"], [session("/b", 1)], "/c", HOME)).toEqual(["/c", "/a", "/b"]);
    expect(paths(["/a"], [session("/b", 1)], "/b", HOME)).toEqual(["/a", "/b"]);
    expect(paths([], [], undefined, HOME)).toEqual([]);
  });

  it("are called by their names, and by where they are where two are called the same", () => {
    const names = folderChoices([`${HOME}/code/site`, "/srv/site", `${HOME}/notes`], [], undefined, HOME);
    expect(names.map(({ name }) => name)).toEqual(["~/code/site", "/srv/site", "notes"]);
  });
});
