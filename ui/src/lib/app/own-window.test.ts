// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { readWindow } from "./own-window";

describe("this window", () => {
  it("is the first one by default", () => {
    const first = { number: 0, session: null };
    for (const search of ["", "?reloaded", "?window=0&session=a", "?window=-1&session=a", "?window=x&session=a"])
      expect(readWindow(search)).toEqual(first);
  });

  it("is for the session named by the shell", () => {
    expect(readWindow("?window=2&session=0198-ab&reloaded")).toEqual({ number: 2, session: "0198-ab" });
  });
});
