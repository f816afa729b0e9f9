import { Button, Checkbox, MultiSelect, Select, Skeleton, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ApiKey, CreateInvitationRequest, Invitation, Member, Role } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useKept } from "../../data/hidden-records.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight, useSite } from "../../data/session.ts";
import { formatAgo, formatTime } from "../../format.ts";
import { inSentence, ofService, t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FormCard, FormDialog } from "../../parts/form.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { statusName } from "../../parts/status-names.ts";
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
      <Card title={t("Members")}>
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
    siteIds
      ?.map((id) => sites.find((site) => site.id === id)?.name ?? t("Site {id}", { id }))
      .join(", ") ?? t("All sites");
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
      label={t("Only these sites (optional)")}
      description={t("Without a choice, the member can work in all sites.")}
      placeholder={value.length === 0 ? t("All sites") : ""}
      clearable
      clearButtonProps={{ "aria-label": t("All sites") }}
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
      title={t("Sites of {email}", { email })}
      action={t("Save sites")}
      submission={saving}
      opened
      onClose={onClose}
    >
      <SiteLimit value={chosen} onChange={setChosen} />
    </FormDialog>
  );
}

const roleOptions = (roles: Role[]) =>
  roles.map(({ name }) => ({ value: name, label: statusName(name) }));

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
  const [demoted, setDemoted] = useState<RoleChange>();
  const [revokeApiKeys, setRevokeApiKeys] = useState(false);
  const keysOf = useKeysOf();
  const changeRole = useChange({
    run: ({ id, role }: RoleChange) => api.members.update(id, { role, revokeApiKeys }),
    refreshes: [...refreshes, "apiKeys"],
    onDone: () => setDemoted(undefined),
  });
  const remove = useChange({
    run: ({ id }: Member) => api.members.delete(id, { revokeApiKeys }),
    refreshes: [...refreshes, "apiKeys"],
    onDone: () => setLeaving(undefined),
  });
  /** Asks about the API keys first if the member created some. */
  const startRoleChange = (change: RoleChange) => {
    setRevokeApiKeys(false);
    if (keysOf(change.id).length > 0) setDemoted(change);
    else changeRole.mutate(change);
  };
  const startRemoval = (member: Member) => {
    setRevokeApiKeys(false);
    setLeaving(member);
  };
  const mayChange = ({ id }: Member) => mayWrite && id !== user.id;
  const columns: PlainColumn<Member>[] = [
    {
      label: t("Member"),
      render: ({ name, email }) => (
        <>
          {name ?? email}
          {name && <small>{email}</small>}
        </>
      ),
    },
    {
      label: t("Role"),
      render: (member) =>
        mayChange(member) ? (
          <Select
            aria-label={t("Role of {email}", { email: member.email })}
            size="xs"
            w={130}
            allowDeselect={false}
            data={roleOptions(roles)}
            value={member.role}
            onChange={(role) => startRoleChange({ ...member, role: role as RoleName })}
          />
        ) : (
          statusName(member.role)
        ),
    },
    { label: t("Sites"), isWide: true, render: ({ siteIds }) => siteNames(siteIds) },
    {
      label: t("Since"),
      isWide: true,
      render: ({ createdAt }) => formatAgo(createdAt, organization.timezone),
    },
    {
      label: t("Actions"),
      isAction: true,
      render: (member) =>
        mayChange(member) && (
          <div className="buttons">
            {member.role !== "owner" && (
              <Button variant="default" size="compact-xs" onClick={() => setLimited(member)}>
                {t("Sites")}
              </Button>
            )}
            <Button variant="default" size="compact-xs" onClick={() => startRemoval(member)}>
              {t("Remove")}
            </Button>
          </div>
        ),
    },
  ];
  return (
    <>
      {!demoted && <ErrorNote error={changeRole.error} />}
      <PlainTable label={t("Members")} columns={columns} rows={members} keyOf={({ id }) => id} />
      {limited && <SitesDialog member={limited} onClose={() => setLimited(undefined)} />}
      <ConfirmDialog
        title={t("Remove member")}
        action={t("Remove {email}", { email: leaving?.email ?? "" })}
        isDangerous
        target={leaving}
        change={remove}
        typed={leaving?.email}
        onClose={() => setLeaving(undefined)}
      >
        <p>
          {t("{email} is signed out at once and can no longer see this organization.", {
            email: leaving?.email,
          })}
        </p>
        <KeyChoice keys={keysOf(leaving?.id)} value={revokeApiKeys} onChange={setRevokeApiKeys} />
      </ConfirmDialog>
      <ConfirmDialog
        title={t("Change role")}
        action={t("Make {email} {role}", {
          email: demoted?.email ?? "",
          role: demoted ? inSentence(statusName(demoted.role)) : "",
        })}
        target={demoted}
        change={changeRole}
        onClose={() => setDemoted(undefined)}
      >
        <p>{t("The role works from the member's next request on.")}</p>
        <KeyChoice keys={keysOf(demoted?.id)} value={revokeApiKeys} onChange={setRevokeApiKeys} />
      </ConfirmDialog>
    </>
  );
}

type RoleChange = Pick<Member, "id" | "email"> & { role: RoleName };

/** The API keys that a member created. */
function useKeysOf(): (memberId: number | undefined) => ApiKey[] {
  const mayRead = useRight("credentials:read");
  const { data } = useQuery({ ...queries.apiKeys(), enabled: mayRead });
  return (memberId) => data?.apiKeys.filter(({ createdBy }) => createdBy?.id === memberId) ?? [];
}

interface KeyChoiceProps {
  keys: ApiKey[];
  value: boolean;
  onChange(revokes: boolean): void;
}

/** API keys keep their rights when their creator loses some. */
function KeyChoice({ keys, value, onChange }: KeyChoiceProps) {
  if (keys.length === 0) return null;
  const names = keys.map(({ name, prefix }) => `${name} (${prefix}…)`).join(", ");
  return (
    <Checkbox
      label={t("Also revoke the API keys that this member created")}
      description={t("They stay valid otherwise, and programs may need them: {names}", { names })}
      checked={value}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
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
    { label: t("Address"), render: ({ email }) => email },
    { label: t("Role"), render: ({ role }) => statusName(role) },
    { label: t("Sites"), isWide: true, render: ({ siteIds }) => siteNames(siteIds) },
    {
      label: t("Valid until"),
      isWide: true,
      render: ({ status, expiresAt }) =>
        status === "expired" ? (
          <StatusMark status="expired" tone="bad" />
        ) : (
          formatTime(expiresAt, timezone)
        ),
    },
    {
      label: t("Actions"),
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
              {t("Resend")}
            </Button>
            <Button variant="default" size="compact-xs" onClick={() => revoke(invitation)}>
              {t("Revoke")}
            </Button>
          </div>
        ),
    },
  ];
  return (
    <Card title={t("Invitations")}>
      <ErrorNote error={mailing.error} />
      {mailing.isSuccess && (
        <p role="status">
          {t("A new link is on its way to {email}. It works for 7 days.", {
            email: mailing.data.email,
          })}
        </p>
      )}
      <PlainTable
        label={t("Invitations")}
        columns={columns}
        rows={invitations}
        keyOf={({ id }) => id}
      />
    </Card>
  );
}

const revoke = ({ id, email }: Invitation) =>
  removeWithUndo({
    group: "invitations",
    id,
    name: t("Invitation"),
    consequence: t("The link that {email} got no longer works.", { email }),
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
    <FormCard title={t("Invite somebody")} action={t("Send invitation")} submission={invite}>
      <TextInput
        className="narrow"
        label={t("Email")}
        type="email"
        required
        data-field="email"
        {...email.input}
      />
      <Select
        className="narrow"
        label={t("Role")}
        description={ofService(roles.find(({ name }) => name === role)?.description ?? "")}
        allowDeselect={false}
        data={roleOptions(roles)}
        value={role}
        onChange={(value) => setRole(value as RoleName)}
      />
      {maySetLimit && <SiteLimit value={siteIds} onChange={setSiteIds} />}
    </FormCard>
  );
}
