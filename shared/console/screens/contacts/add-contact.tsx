import { Button, Modal, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api } from "../../data/client.ts";
import { ErrorNote } from "../../parts/error-note.tsx";

interface AddContactProps {
  siteId: number;
  opened: boolean;
  onClose(): void;
}

const empty = { email: "", firstName: "", lastName: "" };

export function AddContact({ siteId, opened, onClose }: AddContactProps) {
  const [fields, setFields] = useState(empty);
  const queryClient = useQueryClient();
  const close = () => {
    setFields(empty);
    adding.reset();
    onClose();
  };
  const adding = useMutation({
    mutationFn: () => {
      const { email, firstName, lastName } = fields;
      return api.contacts.create({
        siteId,
        email,
        ...(firstName && { firstName }),
        ...(lastName && { lastName }),
      });
    },
    onSuccess: async () => {
      close();
      await queryClient.invalidateQueries({ queryKey: ["contacts"] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    adding.mutate();
  };
  const bind = (name: keyof typeof empty) => ({
    value: fields[name],
    onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) =>
      setFields((old) => ({ ...old, [name]: value })),
  });
  return (
    <Modal opened={opened} onClose={close} title="Add contact" lockScroll={false}>
      <form className="stack" onSubmit={submit}>
        <TextInput label="Email" type="email" required data-autofocus {...bind("email")} />
        <TextInput label="First name (optional)" {...bind("firstName")} />
        <TextInput label="Last name (optional)" {...bind("lastName")} />
        <p className="quiet">Add only people who agreed to get your email.</p>
        <ErrorNote error={adding.error} />
        <Button type="submit" loading={adding.isPending}>
          Add contact
        </Button>
      </form>
    </Modal>
  );
}
