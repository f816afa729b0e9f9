import { Button, Select, Skeleton, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { CreateInvitationRequest, Invitation, Member, Role } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { capitalize, formatAgo } from "../../format.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FormCard } from "../../parts/form.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { useUnsavedChanges } from "../../parts/unsaved-changes.ts";

type RoleName = CreateInvitationRequest["role"];

const refreshes = ["members", "invitations"];

export function Members() {
  const members = useQuery(queries.members());
  const invitations = useQuery(queries.invitations());
  const roles = useQuery(queries.roles()).data?.roles ?? [];
  const mayWrite = useRight("team:write");
  return (
    <>
      <ErrorNote error={members.error ?? invitations.error} />
      <Card title="Members">
        {members.data ? (
          <MemberTable members={members.data.members} roles={roles} mayWrite={mayWrite} />
        ) : (
          <Skeleton h={120} />
        )}
      </Card>
      {invitations.data && invitations.data.invitations.length > 0 && (
        <Invitations invitations={invitations.data.invitations} mayWrite={mayWrite} />
      )}
      {mayWrite && <InviteForm roles={roles} />}
    </>
  );
}

const roleOptions = (roles: Role[]) =>
  roles.map(({ name }) => ({ value: name, label: capitalize(name) }));

interface MemberTableProps {
  members: Member[];
  roles: Role[];
  mayWrite: boolean;
}

function MemberTable({ members, roles, mayWrite }: MemberTableProps) {
  const { user, organization } = useMe();
  const [leaving, setLeaving] = useState<Member>();
  const changeRole = useChange({
    run: ({ id, role }: { id: number; role: RoleName }) => api.members.update(id, { role }),
    refreshes,
  });
  const remove = useChange({
    run: ({ id }: Member) => api.members.delete(id),
    refreshes,
    onDone: () => setLeaving(undefined),
  });
  const mayChange = ({ id }: Member) => mayWrite && id !== user.id;
  const columns: PlainColumn<Member>[] = [
    {
      label: "Member",
      render: ({ name, email }) => (
        <>
          {name ?? email}
          {name && <small>{email}</small>}
        </>
      ),
    },
    {
      label: "Role",
      render: (member) =>
        mayChange(member) ? (
          <Select
            aria-label={`Role of ${member.email}`}
            size="xs"
            w={130}
            allowDeselect={false}
            data={roleOptions(roles)}
            value={member.role}
            onChange={(role) => changeRole.mutate({ id: member.id, role: role as RoleName })}
          />
        ) : (
          capitalize(member.role)
        ),
    },
    {
      label: "Since",
      isWide: true,
      render: ({ createdAt }) => formatAgo(createdAt, organization.timezone),
    },
    {
      label: "Actions",
      isAction: true,
      render: (member) =>
        mayChange(member) && (
          <Button variant="default" size="compact-xs" onClick={() => setLeaving(member)}>
            Remove
          </Button>
        ),
    },
  ];
  return (
    <>
      <ErrorNote error={changeRole.error} />
      <PlainTable label="Members" columns={columns} rows={members} keyOf={({ id }) => id} />
      <ConfirmDialog
        title="Remove member"
        action={`Remove ${leaving?.email ?? ""}`}
        isDangerous
        target={leaving}
        change={remove}
        onClose={() => setLeaving(undefined)}
      >
        {leaving?.email} is signed out at once and can no longer see this organization. API keys
        that the member created stay valid.
      </ConfirmDialog>
    </>
  );
}

interface InvitationsProps {
  invitations: Invitation[];
  mayWrite: boolean;
}

function Invitations({ invitations, mayWrite }: InvitationsProps) {
  const { timezone } = useMe().organization;
  const revoke = useChange({ run: (id: number) => api.invitations.revoke(id), refreshes });
  const columns: PlainColumn<Invitation>[] = [
    { label: "Address", render: ({ email }) => email },
    { label: "Role", render: ({ role }) => capitalize(role) },
    {
      label: "Valid until",
      isWide: true,
      render: ({ expiresAt }) => formatAgo(expiresAt, timezone),
    },
    {
      label: "Actions",
      isAction: true,
      render: ({ id }) =>
        mayWrite && (
          <Button
            variant="default"
            size="compact-xs"
            loading={revoke.isPending}
            onClick={() => revoke.mutate(id)}
          >
            Revoke
          </Button>
        ),
    },
  ];
  return (
    <Card title="Invitations">
      <ErrorNote error={revoke.error} />
      <PlainTable label="Invitations" columns={columns} rows={invitations} keyOf={({ id }) => id} />
    </Card>
  );
}

function InviteForm({ roles }: { roles: Role[] }) {
  const email = useTextField();
  const [role, setRole] = useState<RoleName>("marketer");
  const invite = useChange({
    run: () => api.invitations.create({ email: email.value, role }),
    refreshes,
    onDone: () => email.set(""),
  });
  useUnsavedChanges(email.value !== "");
  return (
    <FormCard title="Invite somebody" action="Send invitation" submission={invite}>
      <TextInput className="narrow" label="Email" type="email" required {...email.input} />
      <Select
        className="narrow"
        label="Role"
        description={roles.find(({ name }) => name === role)?.description}
        allowDeselect={false}
        data={roleOptions(roles)}
        value={role}
        onChange={(value) => setRole(value as RoleName)}
      />
    </FormCard>
  );
}
