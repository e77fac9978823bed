// @vitest-environment jsdom
import { mountStage } from "$lib/testing/mount";
import { until, words } from "$lib/testing/dom";
import { flushSync, mount, unmount } from "svelte";
import { expect, it } from "vitest";
import Markdown from "./Markdown.svelte";

const { target } = mountStage();
const text = "The roots of $ax^2 + bx + c$ cost $5:\n\n$$\nx = \\frac{-b}{2a}\n- c\n$$\n\nThat is all, and";

it("typesets the formulas of a streamed answer once they are complete", async () => {
  const props = $state({ text: "", streaming: true });
  const mounted = mount(Markdown, { target, props });
  const show = (length: number): void => {
    props.text = text.slice(0, length);
    flushSync();
  };
  show(text.indexOf(" cost"));
  expect(words(target)).toBe("The roots of ax^2 + bx + c");
  await until(() => expect(target.querySelectorAll(".katex").length).toBe(1));
  show(text.indexOf("- c"));
  // Incomplete TeX is shown as plain text.
  expect([...target.querySelectorAll("li, code")].map(words)).toEqual(["$$ x = \\frac{-b}{2a}"]);
  show(text.indexOf("That"));
  expect(target.querySelectorAll(".katex-display").length).toBe(1);
  show(text.indexOf("all"));
  const [first, second] = target.querySelectorAll(".katex");
  show(text.length);
  expect([...target.querySelectorAll(".katex")]).toEqual([first, second]);
  expect(first?.isConnected && second?.isConnected).toBe(true);
  expect(words(target)).toContain("cost $5:");
  await unmount(mounted);
});
