import { Button } from "@mantine/core";
import type { Contact } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useRight } from "../../data/session.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";

interface ContactActionsProps {
  contact: Contact;
  mayWrite: boolean;
  /** Runs when the contact has been deleted. */
  onGone(): void;
}

/** What a person can ask for by law: the data, and to be forgotten. */
export function ContactActions({ contact, mayWrite, onGone }: ContactActionsProps) {
  const { id, email } = contact;
  const mayExport = useRight("audience:export");
  const [deleted, setDeleted] = useState<number>();
  const [erased, setErased] = useState<number>();
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
          Download all data
        </Button>
      )}
      {mayWrite && (
        <>
          <Button variant="default" size="xs" onClick={() => setDeleted(id)}>
            Delete contact
          </Button>
          <Button variant="subtle" color="red" size="xs" onClick={() => setErased(id)}>
            Erase person
          </Button>
        </>
      )}
      <ConfirmDialog
        title={`Delete ${email}`}
        action="Delete contact"
        isDangerous
        target={deleted}
        change={deleting}
        typed={email}
        onClose={() => setDeleted(undefined)}
      >
        The contact leaves all lists, segments and sequences. What was sent to it stays in the log.
        This cannot be undone.
      </ConfirmDialog>
      <ConfirmDialog
        title={`Erase ${email}`}
        action="Erase person"
        isDangerous
        typed={email}
        target={erased}
        change={erasing}
        onClose={() => setErased(undefined)}
      >
        The contact is deleted, its emails and events become anonymous, and its secure messages are
        revoked. The address can get no email any more, of any site. This cannot be undone.
      </ConfirmDialog>
    </div>
  );
}
