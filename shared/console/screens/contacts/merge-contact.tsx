import type { Contact } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { ContactSelect } from "../../parts/contact-select.tsx";
import { FormDialog } from "../../parts/form.tsx";

interface MergeContactProps {
  /** The contact that ends. */
  contact: Contact;
  opened: boolean;
  onClose(): void;
  /** Runs with the contact that stays. */
  onMerged(contactId: number): unknown;
}

/** Merges the contact into another one of its site, after it says what becomes of both. */
export function MergeContact({ contact, opened, onClose, onMerged }: MergeContactProps) {
  const { id, siteId, email } = contact;
  const [target, setTarget] = useState<Contact>();
  const close = () => {
    setTarget(undefined);
    merging.reset();
    onClose();
  };
  const merging = useChange({
    run: () => api.contacts.merge(id, { into: target?.id ?? 0 }),
    refreshes: ["contacts", "lists", "tags", "topics", "sequences"],
    onDone: (merged) => {
      close();
      // Until another contact is open, this one is read again.
      return onMerged(merged.id);
    },
  });
  const isSame = target?.id === id;
  return (
    <FormDialog
      title={t("Merge {email}", { email })}
      action={t("Merge contacts")}
      submission={merging}
      isDisabled={!target || isSame}
      opened={opened}
      onClose={close}
    >
      <ContactSelect siteId={siteId} label={t("Merge into")} value={target} onChange={setTarget} />
      {isSame ? (
        <p className="quiet">{t("Choose another contact.")}</p>
      ) : (
        <Consequences from={email} into={target?.email ?? t("the other contact")} />
      )}
    </FormDialog>
  );
}

function Consequences({ from, into }: { from: string; into: string }) {
  return (
    <>
      <p>
        {tNodes(
          "{kept} stays. It keeps its address and its fields, and takes the fields that it lacks.",
          { kept: <strong>{into}</strong> },
        )}
      </p>
      <p>
        {tNodes(
          "It gets the lists, tags, events, score and sequences of {merged}, which is deleted.",
          { merged: <strong>{from}</strong> },
        )}
      </p>
      <p>{t("If one of the two has unsubscribed or left a topic, so has the one that stays.")}</p>
      <p>{t("This cannot be undone.")}</p>
    </>
  );
}
