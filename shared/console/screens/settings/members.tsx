import { Button, MultiSelect, Select, Skeleton, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { CreateInvitationRequest, Invitation, Member, Role } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useKept } from "../../data/hidden-records.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight, useSite } from "../../data/session.ts";
import { capitalize, formatAgo, formatTime } from "../../format.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FormCard, FormDialog } from "../../parts/form.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { removeWithUndo } from "../../parts/undo-toast.tsx";
import { useUnsavedChanges } from "../../parts/unsaved-changes.ts";

type RoleName = CreateInvitationRequest["role"];

const refreshes = ["members", "invitations"];

export function Members() {
  const members = useQuery(queries.members());
  const pending = useQuery(queries.invitations());
  const invitations = useKept("invitations", pending.data?.invitations ?? []);
  const roles = useQuery(queries.roles()).data?.roles ?? [];
  const mayWrite = useRight("team:write");
  return (
    <>
      <ErrorNote error={members.error ?? pending.error} />
      <Card title="Members">
        {members.data ? (
          <MemberTable members={members.data.members} roles={roles} mayWrite={mayWrite} />
        ) : (
          <Skeleton h={120} />
        )}
      </Card>
      {invitations.length > 0 && <Invitations invitations={invitations} mayWrite={mayWrite} />}
      {mayWrite && <InviteForm roles={roles} />}
    </>
  );
}

/** Names of the only sites of a member. */
function useSiteNames(): (siteIds: readonly number[] | null) => string {
  const { sites } = useSite();
  return (siteIds) =>
    siteIds?.map((id) => sites.find((site) => site.id === id)?.name ?? `Site ${id}`).join(", ") ??
    "All sites";
}

interface SiteLimitProps {
  value: readonly number[];
  onChange(siteIds: number[]): void;
}

/** Without a site, the member has all of them. */
function SiteLimit({ value, onChange }: SiteLimitProps) {
  const { sites } = useSite();
  return (
    <MultiSelect
      className="narrow"
      label="Only these sites (optional)"
      description="Without a choice, the member can work in all sites."
      placeholder={value.length === 0 ? "All sites" : ""}
      clearable
      clearButtonProps={{ "aria-label": "All sites" }}
      data={sites.map(({ id, name }) => ({ value: String(id), label: name }))}
      value={value.map(String)}
      onChange={(ids) => onChange(ids.map(Number))}
    />
  );
}

const limitOf = (siteIds: number[]): number[] | null => (siteIds.length > 0 ? siteIds : null);

interface SitesDialogProps {
  member: Member;
  onClose(): void;
}

function SitesDialog({ member: { id, email, siteIds }, onClose }: SitesDialogProps) {
  const [chosen, setChosen] = useState(siteIds ?? []);
  const saving = useChange({
    run: () => api.members.update(id, { siteIds: limitOf(chosen) }),
    refreshes,
    onDone: onClose,
  });
  return (
    <FormDialog
      title={`Sites of ${email}`}
      action="Save sites"
      submission={saving}
      opened
      onClose={onClose}
    >
      <SiteLimit value={chosen} onChange={setChosen} />
    </FormDialog>
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
  const [limited, setLimited] = useState<Member>();
  const siteNames = useSiteNames();
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
    { label: "Sites", isWide: true, render: ({ siteIds }) => siteNames(siteIds) },
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
          <div className="buttons">
            {member.role !== "owner" && (
              <Button variant="default" size="compact-xs" onClick={() => setLimited(member)}>
                Sites
              </Button>
            )}
            <Button variant="default" size="compact-xs" onClick={() => setLeaving(member)}>
              Remove
            </Button>
          </div>
        ),
    },
  ];
  return (
    <>
      <ErrorNote error={changeRole.error} />
      <PlainTable label="Members" columns={columns} rows={members} keyOf={({ id }) => id} />
      {limited && <SitesDialog member={limited} onClose={() => setLimited(undefined)} />}
      <ConfirmDialog
        title="Remove member"
        action={`Remove ${leaving?.email ?? ""}`}
        isDangerous
        target={leaving}
        change={remove}
        typed={leaving?.email}
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
  const siteNames = useSiteNames();
  const mailing = useChange({ run: ({ id }: Invitation) => api.invitations.resend(id), refreshes });
  const columns: PlainColumn<Invitation>[] = [
    { label: "Address", render: ({ email }) => email },
    { label: "Role", render: ({ role }) => capitalize(role) },
    { label: "Sites", isWide: true, render: ({ siteIds }) => siteNames(siteIds) },
    {
      label: "Valid until",
      isWide: true,
      render: ({ status, expiresAt }) =>
        status === "expired" ? (
          <StatusMark status="expired" tone="bad" />
        ) : (
          formatTime(expiresAt, timezone)
        ),
    },
    {
      label: "Actions",
      isAction: true,
      render: (invitation) =>
        mayWrite && (
          <div className="buttons">
            <Button
              variant="default"
              size="compact-xs"
              loading={mailing.isPending && mailing.variables === invitation}
              onClick={() => mailing.mutate(invitation)}
            >
              Resend
            </Button>
            <Button variant="default" size="compact-xs" onClick={() => revoke(invitation)}>
              Revoke
            </Button>
          </div>
        ),
    },
  ];
  return (
    <Card title="Invitations">
      <ErrorNote error={mailing.error} />
      {mailing.isSuccess && (
        <p role="status">A new link is on its way to {mailing.data.email}. It works for 7 days.</p>
      )}
      <PlainTable label="Invitations" columns={columns} rows={invitations} keyOf={({ id }) => id} />
    </Card>
  );
}

const revoke = ({ id, email }: Invitation) =>
  removeWithUndo({
    group: "invitations",
    id,
    name: "Invitation",
    consequence: `The link that ${email} got no longer works.`,
    remove: (client) => client.invitations.revoke(id),
    refreshes,
  });

function InviteForm({ roles }: { roles: Role[] }) {
  const email = useTextField();
  const [role, setRole] = useState<RoleName>("marketer");
  const [siteIds, setSiteIds] = useState<number[]>([]);
  const { sites } = useSite();
  const maySetLimit = role !== "owner" && sites.length > 1;
  const invite = useChange({
    run: () =>
      api.invitations.create({
        email: email.value,
        role,
        siteIds: maySetLimit ? limitOf(siteIds) : null,
      }),
    refreshes,
    onDone: () => {
      email.set("");
      setSiteIds([]);
    },
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
      {maySetLimit && <SiteLimit value={siteIds} onChange={setSiteIds} />}
    </FormCard>
  );
}
