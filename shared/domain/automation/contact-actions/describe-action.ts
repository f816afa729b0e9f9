// What an action does, in one sentence.
import type { ActionType } from "./action-schema.ts";

interface DescribedAction {
  action: ActionType;
  /** Name of the target. */
  name?: string | undefined;
  /** Undefined while the contacts are being selected. */
  count: number | undefined;
}

export function describeAction({ action, name = "", count }: DescribedAction): string {
  const number = count?.toLocaleString("en") ?? "the selected";
  return sentences[action](`${number} ${count === 1 ? "contact" : "contacts"}`, `“${name}”`);
}

const sentences: Record<ActionType, (contacts: string, name: string) => string> = {
  add_tag: (contacts, name) => `Adds the tag ${name} to ${contacts}`,
  remove_tag: (contacts, name) => `Removes the tag ${name} from ${contacts}`,
  add_to_list: (contacts, name) => `Adds ${contacts} to the list ${name}`,
  remove_from_list: (contacts, name) => `Removes ${contacts} from the list ${name}`,
  join_topic: (contacts, name) => `Subscribes ${contacts} to the topic ${name}`,
  leave_topic: (contacts, name) => `Unsubscribes ${contacts} from the topic ${name}`,
  enroll: (contacts, name) => `Enrolls ${contacts} in the sequence ${name}`,
  unsubscribe: (contacts) => `Unsubscribes ${contacts}`,
  suppress: (contacts) => `Suppresses the addresses of ${contacts}`,
  delete: (contacts) => `Deletes ${contacts}`,
};
