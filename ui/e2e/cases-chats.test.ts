/** The acceptance cases of the chat services' settings; the tests carry their numbers. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { settings, say } from "./actions";
import { Stage, asked, close } from "./stage";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterAll(() => stage.end());

const TOKEN = "4242:AAverysecret_x9Qz";

describe("chat services", () => {
  it("56. credentials go in a native form, are tested, and are shown nowhere after that", async () => {
    const page = await stage.open({ scene: "main" });
    await settings(page, "chats");
    await page.getByTestId("chat-add").click();
    const token = page.getByTestId("chat-token");
    await expect.poll(() => token.getAttribute("type")).toBe("password");
    await expect.poll(() => page.getByTestId("chat-save").isDisabled()).toBe(true);

    // A wrong token is refused with a reason; nothing is saved or lost.
    await token.fill("1:wrong");
    await page.getByTestId("chat-save").click();
    await page.getByText(say("error.chat.token_wrong")).waitFor();
    await expect.poll(() => asked(page, "save_telegram")).toEqual([]);
    await expect.poll(() => token.inputValue()).toBe("1:wrong");
    await page.getByTestId("chat-save-anyway").waitFor();

    // Editing the token discards the previous check result.
    await token.fill(TOKEN);
    await expect.poll(() => page.getByTestId("chat-save-anyway").count()).toBe(0);
    await page.getByTestId("chat-test").click();
    await page.getByText(say("settings.chats.tested", { name: "mei_octo_bot" })).waitFor();
    await page.getByTestId("chat-mode-ask").click();
    await page.getByTestId("chat-save").click();
    await expect.poll(() => page.getByTestId("chat-status").getAttribute("data-state")).toBe("connected");
    await expect
      .poll(() => asked(page, "save_telegram"))
      .toMatchObject([{ draft: { token: TOKEN, server: null, mode: "ask" }, bot: { name: "mei_octo_bot" } }]);
    expect(await page.content()).not.toContain("AAverysecret");

    // Reopened, the form shows only the token's last characters and keeps the token if the field stays empty.
    await page.getByTestId("chat-edit").click();
    await expect.poll(() => token.inputValue()).toBe("");
    await expect
      .poll(() => token.getAttribute("placeholder"))
      .toBe(say("settings.chats.token_kept", { last4: "x9Qz" }));
    await page.getByTestId("chat-mode-ask_risky").click();
    await page.getByTestId("chat-save").click();
    await expect
      .poll(async () => (await asked(page, "save_telegram")).at(-1))
      .toMatchObject({ draft: { token: null, mode: "ask_risky" } });
    await close(page);
  });

  it("56. nobody is heard before their code was typed here, and whoever was let in can be shut out", async () => {
    const page = await stage.open({ scene: "main", query: "&chat=fine" });
    await settings(page, "chats");
    const people = page.getByTestId("chat-person");
    await expect.poll(() => people.count()).toBe(1);
    await people.getByRole("button").click();
    await expect.poll(() => people.count()).toBe(0);
    await page.getByText(say("settings.chats.people_none")).waitFor();
    await page.getByTestId("chat-code").fill("ZZZZ-ZZZZ");
    await page.getByTestId("chat-pair").click();
    await page.getByText(say("error.chat.code_unknown")).waitFor();
    await expect.poll(() => page.getByTestId("chat-code").inputValue()).toBe("ZZZZ-ZZZZ");
    await page.getByTestId("chat-code").fill("abcd-2345");
    await page.keyboard.press("Enter");
    await page.getByText(say("settings.chats.paired", { name: "Mei Lin (@mei)" })).waitFor();
    await expect.poll(() => people.count()).toBe(1);
    await expect.poll(() => page.getByTestId("chat-code").inputValue()).toBe("");
    await close(page);
  });

  it("58. a lost connection is shown with what becomes of messages, and one that is refused with what to do", async () => {
    for (const [query, state, words] of [
      ["&chat=lost", "reconnecting", say("error.chat.unreachable")],
      ["&chat=refused", "refused", say("error.chat.token_wrong")],
    ] as const) {
      const page = await stage.open({ scene: "main", query });
      await settings(page, "chats");
      const standing = page.getByTestId("chat-status");
      await expect.poll(() => standing.getAttribute("data-state")).toBe(state);
      await expect.poll(() => standing.innerText()).toContain(words);
      await page.getByTestId("chat-on").click();
      await expect.poll(() => standing.getAttribute("data-state")).toBe("off");
      // Asks for confirmation: a removed token cannot be recovered.
      const remove = page.getByTestId("chat-remove");
      await remove.click();
      await expect.poll(() => asked(page, "remove_telegram")).toEqual([]);
      await expect.poll(() => remove.innerText()).toBe(say("settings.chats.remove_sure"));
      await remove.click();
      await page.getByTestId("chat-add").waitFor();
      await close(page);
    }
  });
});

it("nothing wrote an error or a warning to its console", () => {
  expect(stage.faults).toEqual([]);
});
