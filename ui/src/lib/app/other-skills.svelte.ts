/** Skills of other agents: detected, selected, imported. Only selected ones are installed. */
import { asApiError, call } from "$lib/ipc";
import type { ApiError, NameConflictAction, OfferedSkill, OtherSkills, SkillImportResult } from "$lib/ipc/types";
import { SvelteMap, SvelteSet } from "svelte/reactivity";

/** Returns the key of a folder's skill. */
export function keyOf(folder: OtherSkills, skill: OfferedSkill): string {
  return `${folder.offer} ${skill.name}`;
}

export class OtherSkillsImport {
  /** The folders that contain skills; null until detected. */
  folders = $state.raw<readonly OtherSkills[] | null>(null);
  searching = $state(false);
  importing = $state(false);
  problem = $state.raw<ApiError | null>(null);
  /** The result of the last import. */
  done = $state.raw<SkillImportResult | null>(null);
  readonly ticked = new SvelteSet<string>();
  /** How to handle a person's skill of the same name; by default without losing either. */
  readonly #conflictActions = new SvelteMap<string, NameConflictAction>();
  #picked: string | null = null;

  /** Searches the usual folders, and one the person picked. */
  async search(picked: string | null = this.#picked): Promise<void> {
    if (this.searching) return;
    this.searching = true;
    this.problem = null;
    this.#picked = picked;
    try {
      this.folders = (await call("skills", "find_other_skills", { folder: picked })).folders;
      this.ticked.clear();
      this.#conflictActions.clear();
    } catch (error) {
      this.problem = asApiError(error);
    } finally {
      this.searching = false;
    }
  }

  /** The number of skills in all folders. */
  get count(): number {
    return (this.folders ?? []).reduce((sum, folder) => sum + folder.skills.length, 0);
  }

  toggle(folder: OtherSkills, skill: OfferedSkill): void {
    if (skill.error !== null) return;
    const key = keyOf(folder, skill);
    if (!this.ticked.delete(key)) this.ticked.add(key);
  }

  /** Selects all importable skills of a folder that replace nothing; deselects them if all are selected. */
  toggleAll(folder: OtherSkills): void {
    const free = folder.skills.filter((skill) => skill.error === null && skill.present === null);
    const all = free.every((skill) => this.ticked.has(keyOf(folder, skill)));
    for (const skill of free) {
      if (all) this.ticked.delete(keyOf(folder, skill));
      else this.ticked.add(keyOf(folder, skill));
    }
  }

  conflictAction(folder: OtherSkills, skill: OfferedSkill): NameConflictAction {
    return this.#conflictActions.get(keyOf(folder, skill)) ?? "rename";
  }

  decide(folder: OtherSkills, skill: OfferedSkill, action: NameConflictAction): void {
    this.#conflictActions.set(keyOf(folder, skill), action);
  }

  /** Imports the selected skills; returns whether the request succeeded. */
  async import(): Promise<boolean> {
    if (this.importing || this.ticked.size === 0) return false;
    this.importing = true;
    this.problem = null;
    const choices = (this.folders ?? []).flatMap((folder) =>
      folder.skills
        .filter((skill) => this.ticked.has(keyOf(folder, skill)))
        // Keeping one's own skill imports nothing.
        .filter((skill) => skill.present === null || this.conflictAction(folder, skill) !== "keep")
        .map((skill) => ({
          offer: folder.offer,
          name: skill.name,
          taken: skill.present === null ? ("keep" as const) : this.conflictAction(folder, skill),
        })),
    );
    try {
      this.done =
        choices.length === 0 ? { names: [], refused: [] } : await call("skills", "import_skills", { choices });
      await this.search();
      return true;
    } catch (error) {
      this.problem = asApiError(error);
      return false;
    } finally {
      this.importing = false;
    }
  }
}
