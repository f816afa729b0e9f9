// Types of contact fields in the words of the console.
import type { ContactField } from "pennymail";

export const fieldTypeLabels: Record<ContactField["type"], string> = {
  text: "Text",
  number: "Number",
  boolean: "Yes or no",
};

export const fieldTypeOptions = Object.entries(fieldTypeLabels).map(([value, label]) => ({
  value,
  label,
}));
