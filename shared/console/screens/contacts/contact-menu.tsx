import { Button, Menu } from "@mantine/core";
import { IconChevronDown, IconMailOff, IconPencil, IconRoute } from "@tabler/icons-react";
import type { Contact } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useRight } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { FormDialog } from "../../parts/form.tsx";
import { ReadableError } from "../../parts/readable-error.ts";
import { RecordSelect } from "../../parts/record-select.tsx";
import { StatusDialog } from "./contact-consent.tsx";

interface ContactMenuProps {
  contact: Contact;
  onEdit(): void;
}

/** What is done with a contact most often. Tags and lists are changed in its details. */
export function ContactMenu({ contact, onEdit }: ContactMenuProps) {
  const maySend = useRight("marketing:write");
  const [isLeaving, setLeaving] = useState(false);
  const [isEnrolling, setEnrolling] = useState(false);
  const isSubscribed = contact.status === "subscribed";
  return (
    <div className="drawer-menu">
      <Menu position="bottom-start">
        <Menu.Target>
          <Button variant="default" size="xs" rightSection={<IconChevronDown size={14} />}>
            {t("Actions")}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={16} />} onClick={onEdit}>
            {t("Edit fields")}
          </Menu.Item>
          {maySend && isSubscribed && (
            <Menu.Item leftSection={<IconRoute size={16} />} onClick={() => setEnrolling(true)}>
              {t("Add to a sequence")}
            </Menu.Item>
          )}
          {isSubscribed && (
            <Menu.Item leftSection={<IconMailOff size={16} />} onClick={() => setLeaving(true)}>
              {t("Unsubscribe")}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <StatusDialog
        contact={contact}
        next={isLeaving ? "unsubscribed" : undefined}
        onClose={() => setLeaving(false)}
      />
      {isEnrolling && <AddToSequence contact={contact} onClose={() => setEnrolling(false)} />}
    </div>
  );
}

function AddToSequence({ contact, onClose }: { contact: Contact; onClose(): void }) {
  const { id, siteId, email } = contact;
  const [sequence, setSequence] = useState<number | null>(null);
  const adding = useChange({
    run: async () => {
      const { failed } = await api.sequences.enrollContacts(sequence!, { contactIds: [id] });
      if (failed[0]) throw new ReadableError(failed[0].error);
    },
    refreshes: ["sequences", "contacts"],
    onDone: onClose,
  });
  return (
    <FormDialog
      title={t("Add {email} to a sequence", { email })}
      action={t("Add to sequence")}
      submission={adding}
      isDisabled={sequence === null}
      opened
      onClose={onClose}
    >
      <RecordSelect
        group="sequences"
        siteId={siteId}
        label={t("Sequence")}
        nothingFoundMessage={t("There is no sequence.")}
        value={sequence}
        onChange={setSequence}
      />
    </FormDialog>
  );
}
