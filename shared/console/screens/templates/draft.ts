// What is edited of a template before it is saved.
import type { Contact, Template } from "pennymail";
import type { EmailDesign } from "./blocks.ts";

export interface Draft {
  name: string;
  subject: string;
  html: string | null;
  /** Null: made from the HTML when the email is sent. */
  text: string | null;
  /** The source of a visual template; null for code. */
  design: EmailDesign | null;
}
