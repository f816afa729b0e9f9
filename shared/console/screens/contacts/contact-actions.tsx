import { Button } from "@mantine/core";
import type { Contact } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useRight } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { MergeContact } from "./merge-contact.tsx";

interface ContactActionsProps {
  contact: Contact;
  mayWrite: boolean;
  /** Runs when the contact has been deleted. */
  onGone(): void;
  /** Runs with the contact that it was merged into. */
  onMerged(contactId: number): unknown;
}

/** What a person can ask for by law, the data and to be forgotten, and what ends the contact. */
export function ContactActions(props: ContactActionsProps) {
  const { contact, mayWrite, onGone, onMerged } = props;
  const { id, email } = contact;
  const mayExport = useRight("audience:export");
  const [deleted, setDeleted] = useState<number>();
  const [erased, setErased] = useState<number>();
  const [isMerging, setMerging] = useState(false);
  const removal = { refreshes: ["contacts", "lists", "tags"], onDone: onGone };
  const deleting = useChange({
    run: (contactId: number) => api.contacts.delete(contactId),
    ...removal,
  });
  const erasing = useChange({
    run: (contactId: number) => api.contacts.delete(contactId, { erase: "true" }),
    ...removal,
  });
  return (
    <div className="drawer-actions">
      {mayExport && (
        <Button
          component="a"
          href={`/api/v1/contacts/${id}/export`}
          download={`contact-${id}.json`}
          variant="default"
          size="xs"
        >
          {t("Download all data")}
        </Button>
      )}
      {mayWrite && (
        <>
          <Button variant="default" size="xs" onClick={() => setMerging(true)}>
            {t("Merge into…")}
          </Button>
          <Button variant="default" size="xs" onClick={() => setDeleted(id)}>
            {t("Delete contact")}
          </Button>
          <Button variant="subtle" color="red" size="xs" onClick={() => setErased(id)}>
            {t("Erase person")}
          </Button>
        </>
      )}
      <MergeContact
        contact={contact}
        opened={isMerging}
        onClose={() => setMerging(false)}
        onMerged={onMerged}
      />
      <ConfirmDialog
        title={t("Delete {email}", { email })}
        action={t("Delete contact")}
        isDangerous
        target={deleted}
        change={deleting}
        typed={email}
        onClose={() => setDeleted(undefined)}
      >
        {t(
          "The contact leaves all lists, segments and sequences. What was sent " +
            "to it stays in the log. This cannot be undone.",
        )}
      </ConfirmDialog>
      <ConfirmDialog
        title={t("Erase {email}", { email })}
        action={t("Erase person")}
        isDangerous
        typed={email}
        target={erased}
        change={erasing}
        onClose={() => setErased(undefined)}
      >
        {t(
          "The contact is deleted, its emails and events become anonymous, and " +
            "its secure messages are revoked. The address can get no email any " +
            "more, of any site. This cannot be undone.",
        )}
      </ConfirmDialog>
    </div>
  );
}
