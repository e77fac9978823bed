/** The chat services of a replay: a bot that accepts any token but a wrong one, and a stranger with a code. */
import type { FakeSettings } from "./fake-settings";
import { failure } from "./fake-parts";
import type { ChatConnection, ChatRequest, ChatState, PairedPerson } from "./types";

/** The stranger's code, and the rejected token. */
const CODE = "ABCD-2345";
const WRONG = "1:wrong";
const BOT = { id: "4242", name: "mei_octo_bot" };

/** The chat services. `?chat=lost` and `?chat=refused` have a broken connection. */
export class FakeChats {
  #people: PairedPerson[] = [];

  constructor(
    private readonly settings: FakeSettings,
    private readonly tell: (state: ChatState) => void,
  ) {
    const trouble = new URLSearchParams(location.search).get("chat");
    if (trouble === null) return;
    this.#people = [{ key: 1, service: "telegram", name: "Mei Lin (@mei)", paired_at: Date.UTC(2026, 9, 4) }];
    if (this.settings.settings.chats.telegram === null)
      this.settings.change({
        chats: {
          telegram: {
            on: "on",
            token: { type: "stored", last4: "x9Qz" },
            server: null,
            bot: BOT,
            folder: "/home/mei/notes",
            mode: "ask_risky",
          },
        },
      });
  }

  get state(): ChatState {
    return { telegram: this.#connection, people: this.#people };
  }

  get #connection(): ChatConnection {
    const { telegram } = this.settings.settings.chats;
    if (telegram?.on !== "on") return { type: "off" };
    const trouble = new URLSearchParams(location.search).get("chat");
    if (trouble === "lost")
      return { type: "reconnecting", error: failure("chat.unreachable"), at: Date.now() + 60_000 };
    if (trouble === "refused") return { type: "refused", error: failure("chat.token_wrong") };
    return { type: "connected" };
  }

  answer(call: ChatRequest): unknown {
    const { telegram } = this.settings.settings.chats;
    switch (call.type) {
      case "get_chats":
        return this.state;
      case "test_telegram":
        if (call.draft.token === WRONG) throw failure("chat.token_wrong");
        return BOT;
      case "save_telegram": {
        const { token, server, folder, mode } = call.draft;
        const key = token === null ? telegram?.token : { type: "stored" as const, last4: token.slice(-4) };
        if (!key) throw failure("chat.token_missing");
        this.#set({ on: "on", token: key, server, bot: call.bot, folder, mode });
        return this.settings.snapshot;
      }
      case "switch_telegram":
        if (telegram) this.#set({ ...telegram, on: call.on });
        return this.settings.snapshot;
      case "remove_telegram":
        this.#people = [];
        this.#set(null);
        return this.settings.snapshot;
      case "pair_person": {
        if (call.code.toUpperCase() !== CODE) throw failure("chat.code_unknown");
        const key = this.#people.length + 1;
        const person: PairedPerson = { key, service: "telegram", name: "Mei Lin (@mei)", paired_at: Date.now() };
        this.#people = [...this.#people, person];
        this.tell(this.state);
        return person;
      }
      case "unpair_person":
        this.#people = this.#people.filter((person) => person.key !== call.person);
        this.tell(this.state);
        return {};
      default:
        return call satisfies never;
    }
  }

  #set(telegram: FakeSettings["settings"]["chats"]["telegram"]): void {
    this.settings.change({ chats: { telegram } });
    this.tell(this.state);
  }
}
