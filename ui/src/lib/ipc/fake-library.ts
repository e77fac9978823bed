/**
 * The skills and memories of a replay: enough to use their pages by hand. `?no-skills` leaves only the bundled ones.
 */
import { keyOf } from "$lib/state/skills";
import { importSkills, otherSkills } from "./fake-onboarding";
import { failure } from "./fake-parts";
import { HOME, type StoredSkill, storedSkill, memory, offer, skills, suggestions } from "./fake-library-data";
import type {
  CommandInfo,
  LibraryState,
  MemoryRequest,
  MemorySheet,
  PersonaFile,
  SkillOrigin,
  SkillRequest,
  SkillSheet,
  TrashKind,
} from "./types";

/** Moves something to the trash, with a way to restore it. */
export type PutAway = (what: { kind: TrashKind; name: string; folder: string; size: number }, back: () => void) => void;

export class FakeLibrary {
  #revision = 1;
  #skills = new URLSearchParams(location.search).has("no-skills")
    ? skills().filter(({ card }) => card.skill.origin === "bundled")
    : skills();
  #suggestions = new URLSearchParams(location.search).has("no-skills") ? [] : suggestions();
  #memories: MemorySheet[] = [
    memory(
      "rust-style.md",
      "How Mei writes Rust",
      "Errors, tests and names she wants in every crate",
      "- Errors are enums, never strings.\n- Tests are tables where they can be.\n- No `unwrap` outside tests.\n",
      3,
      "Explain the retry loop in sync.rs",
    ),
    memory(
      "harbor-release.md",
      "Releases of Harbor",
      "Who releases, when, and what has to be checked before",
      "Releases are on Thursdays.\n\n1. Staging first.\n2. Then the notes.\n",
      70,
      "Harbor: release 0.9 plan",
    ),
    memory("报销.md", "报销", "发票怎么交，交给谁", "发票每月 25 日前交给小林。\n", 400, null),
  ];
  #persona: PersonaFile[] = [
    {
      kind: "soul",
      path: `${HOME}/agents/SOUL.md`,
      text: "",
      standard:
        "You are Octo. You work on this machine for one person.\n\n- Say what you did and what you did not.\n- Short sentences.\n",
    },
    {
      kind: "user",
      path: `${HOME}/agents/USER.md`,
      text: "Mei, in Taipei. Works on Harbor, a file sync server in Rust. Writes English at work and 中文 at home.\n",
      standard: "",
    },
  ];
  readonly #changed: (state: LibraryState) => void;
  readonly #putAway: PutAway;

  /** A new home contains nothing about the person yet. */
  constructor(home: "new" | "used", changed: (state: LibraryState) => void, putAway: PutAway) {
    this.#changed = changed;
    this.#putAway = putAway;
    if (home === "used") return;
    this.#memories = [];
    this.#persona = this.#persona.map((file) => ({ ...file, text: "" }));
  }

  get state(): LibraryState {
    return { revision: this.#revision, suggestions: this.#suggestions.length };
  }

  /** Changes a memory on disk, as another program would. */
  touch(file: string, body: string): void {
    this.#memories = this.#memories.map((sheet) =>
      sheet.card.file === file ? { ...sheet, body, version: `${sheet.version}+` } : sheet,
    );
    this.#note();
  }

  #note(): void {
    this.#revision += 1;
    this.#changed(this.state);
  }

  #seen(folder: string | null): StoredSkill[] {
    return this.#skills.filter(({ card }) => card.skill.project === null || card.skill.project === folder);
  }

  /** Returns the slash commands of skills. */
  commands(folder: string | null): CommandInfo[] {
    return this.#seen(folder).flatMap(({ card }) =>
      card.on === "off" || card.error !== null || card.trust !== "trusted" || card.caller === "agent"
        ? []
        : [
            {
              name: card.skill.name,
              description: card.description,
              description_zh: card.description_zh,
              argument: card.argument,
              argument_zh: null,
            },
          ],
    );
  }

  #skill(skill: { name: string; origin: SkillOrigin; project: string | null }): StoredSkill {
    const match = this.#skills.find(({ card }) => keyOf(card.skill) === keyOf(skill));
    if (!match) throw failure("attach.missing", { path: skill.name });
    return match;
  }

  #write(skill: StoredSkill, text: string): void {
    skill.versions = [...skill.versions, { text: skill.text, at: Date.now() }];
    skill.text = text;
    const description = /^description: *(.+)$/m.exec(text)?.[1] ?? "";
    skill.card = { ...skill.card, description, versions: skill.versions.length };
  }

  /** Returns whether the person has a skill of that name. */
  #owns(name: string): boolean {
    return this.#skills.some(({ card }) => card.skill.name === name && card.skill.origin === "user");
  }

  skills(call: SkillRequest): unknown {
    switch (call.type) {
      case "list_skills":
        return { skills: this.#seen(call.folder).map(({ card }) => card) };
      case "get_skill":
        return sheetOf(this.#skill(call.skill));
      case "switch_skill": {
        const skill = this.#skill(call.skill);
        skill.card = { ...skill.card, on: call.on ?? skill.card.on, automatic: call.automatic ?? skill.card.automatic };
        return (this.#note(), {});
      }
      case "accept_skill": {
        const skill = this.#skill(call.skill);
        if (call.seen !== seenOf(skill)) throw failure("skills.changed", { name: call.skill.name });
        skill.card = { ...skill.card, trust: "trusted", on: "on", automatic: "on" };
        return (this.#note(), {});
      }
      case "save_skill": {
        const skill = this.#skill(call.skill);
        if (call.from !== skill.text) throw failure("skills.edited", { name: call.skill.name });
        this.#write(skill, call.text);
        this.#note();
        return sheetOf(skill);
      }
      case "get_skill_version":
        return { text: this.#skill(call.skill).versions[call.number - 1]?.text ?? "" };
      case "delete_skill": {
        const skill = this.#skill(call.skill);
        const index = this.#skills.indexOf(skill);
        this.#skills = this.#skills.filter((other) => other !== skill);
        const { name } = skill.card.skill;
        this.#putAway({ kind: "skill", name, folder: `${HOME}/skills`, size: 5400 }, () => {
          this.#skills = this.#skills.toSpliced(index, 0, skill);
          this.#note();
        });
        return (this.#note(), {});
      }
      case "export_skill":
        return { path: call.to, left_out: this.#skill(call.skill).card.argument === "" ? [] : ["argument-hint"] };
      case "inspect_skills":
        if (call.from.includes("nothing")) throw failure("attach.missing", { path: call.from });
        return offer(call.from);
      case "install_skills": {
        for (const name of call.names) {
          this.#skills = this.#skills.filter(({ card }) => card.skill.name !== name || card.skill.origin !== "user");
          const { description = "", files = [] } = offer("").skills.find((skill) => skill.name === name) ?? {};
          const rest = files.filter((file) => file.path !== "SKILL.md");
          this.#skills = [...this.#skills, storedSkill(name, "user", description, {}, { files: rest })];
        }
        this.#note();
        return { names: call.names };
      }
      case "find_other_skills":
        return { folders: otherSkills(call.folder, (name) => this.#owns(name)) };
      case "import_skills": {
        const done = importSkills(
          call.choices,
          (name) => this.#owns(name),
          (name) => {
            const others = this.#skills.filter(({ card }) => card.skill.name !== name || card.skill.origin !== "user");
            this.#skills = [...others, storedSkill(name, "user", "Imported from another agent")];
          },
        );
        this.#note();
        return done;
      }
      case "list_suggestions":
        return { suggestions: this.#suggestions };
      case "answer_suggestion": {
        const match = this.#suggestions.find((suggestion) => suggestion.id === call.id);
        if (!match) throw failure("attach.missing", { path: call.id });
        this.#suggestions = this.#suggestions.filter((suggestion) => suggestion !== match);
        if (call.answer.type === "accept") {
          const text = call.answer.text ?? match.text;
          const better = this.#skills.find(
            ({ card }) => card.skill.name === match.name && card.skill.origin === "user",
          );
          if (better) this.#write(better, text);
          else this.#skills = [...this.#skills, storedSkill(match.name, "user", "Proposed by Octo", {}, { text })];
        }
        return (this.#note(), {});
      }
      default:
        return call satisfies never;
    }
  }

  memory(call: MemoryRequest): unknown {
    switch (call.type) {
      case "list_memories": {
        const query = call.query.trim().toLowerCase();
        const matches = this.#memories.filter(({ card, body }) =>
          `${card.topic}\n${card.description}\n${body}`.toLowerCase().includes(query),
        );
        return { memories: matches.map(({ card }) => card) };
      }
      case "get_memory":
        return this.#memory(call.file);
      case "save_memory": {
        const before = call.file === null ? null : this.#memory(call.file);
        if (before && before.version !== call.version) throw failure("policy.changed", { path: before.path });
        const { topic, description, body } = call;
        const file = call.file ?? `${topic.toLowerCase().replace(/\s+/g, "-")}.md`;
        const saved = memory(file, topic, description, body, 0, null);
        const sheet = { ...saved, version: `${before?.version ?? ""}1` };
        this.#memories = [sheet, ...this.#memories.filter((memory) => memory.card.file !== file)];
        this.#note();
        return sheet;
      }
      case "delete_memory": {
        const memory = this.#memory(call.file);
        const index = this.#memories.indexOf(memory);
        this.#memories = this.#memories.filter((other) => other !== memory);
        const { size } = memory.card;
        this.#putAway({ kind: "memory", name: call.file, folder: `${HOME}/memories`, size }, () => {
          this.#memories = this.#memories.toSpliced(index, 0, memory);
          this.#note();
        });
        return (this.#note(), {});
      }
      case "get_persona":
        return { files: this.#persona };
      case "save_persona": {
        const before = this.#persona.find((file) => file.kind === call.kind);
        if (before && before.text !== "") {
          const name = call.kind === "soul" ? "SOUL.md" : "USER.md";
          const target = { name, folder: `${HOME}/agents`, size: before.text.length };
          this.#putAway({ kind: "file", ...target }, () => {
            this.#persona = this.#persona.map((file) => (file.kind === call.kind ? before : file));
            this.#note();
          });
        }
        this.#persona = this.#persona.map((file) => (file.kind === call.kind ? { ...file, text: call.text } : file));
        this.#note();
        return { files: this.#persona };
      }
      default:
        return call satisfies never;
    }
  }

  #memory(file: string): MemorySheet {
    const memory = this.#memories.find((sheet) => sheet.card.file === file);
    if (!memory) throw failure("attach.missing", { path: file });
    return memory;
  }
}

/** Returns a value that identifies the content of a folder skill's files. */
function seenOf({ card, text, files }: StoredSkill): string | null {
  return card.skill.project === null ? null : `${text}\n${files.map(({ path, size }) => `${path} ${size}`).join("\n")}`;
}

function sheetOf(skill: StoredSkill): SkillSheet {
  const { card, text, files, tools, license, compatibility, versions } = skill;
  return {
    card,
    text,
    seen: seenOf(skill),
    files: [...files],
    tools: [...tools],
    license,
    compatibility,
    versions: versions.map(({ at }, index) => ({ number: index + 1, at })).reverse(),
  };
}
