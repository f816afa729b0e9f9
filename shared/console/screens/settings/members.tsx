import { Button, Select, Skeleton, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { CreateInvitationRequest, Invitation, Member, Role } from "pennymail";
import { type FormEvent, useState } from "react";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { capitalize, formatAgo } from "../../format.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";

type RoleName = CreateInvitationRequest["role"];

/** Runs a change of the team and reads it again. */
function useTeamChange<Input>(mutationFn: (input: Input) => Promise<unknown>) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn,
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ["members"] });
      await queryClient.invalidateQueries({ queryKey: ["invitations"] });
    },
  });
}

export function Members() {
  const members = useQuery(queries.members());
  const invitations = useQuery(queries.invitations());
  const roles = useQuery(queries.roles()).data?.roles ?? [];
  const mayWrite = useRight("team:write");
  return (
    <div className="stack pad">
      <ErrorNote error={members.error ?? invitations.error} />
      <section className="card" aria-labelledby="members">
        <h2 id="members">Members</h2>
        {members.data ? (
          <MemberTable members={members.data.members} roles={roles} mayWrite={mayWrite} />
        ) : (
          <Skeleton h={120} />
        )}
      </section>
      {invitations.data && invitations.data.invitations.length > 0 && (
        <InvitationList invitations={invitations.data.invitations} mayWrite={mayWrite} />
      )}
      {mayWrite && <InviteForm roles={roles} />}
    </div>
  );
}

interface MemberTableProps {
  members: Member[];
  roles: Role[];
  mayWrite: boolean;
}

const roleOptions = (roles: Role[]) =>
  roles.map(({ name }) => ({ value: name, label: capitalize(name) }));

function MemberTable({ members, roles, mayWrite }: MemberTableProps) {
  const { user, organization } = useMe();
  const [leaving, setLeaving] = useState<Member>();
  const changeRole = useTeamChange(({ id, role }: { id: number; role: RoleName }) =>
    api.members.update(id, { role }),
  );
  const remove = useTeamChange((id: number) => api.members.delete(id));
  return (
    <>
      <ErrorNote error={changeRole.error} />
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">Member</th>
            <th scope="col">Role</th>
            <th scope="col" className="wide">
              Since
            </th>
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {members.map((member) => (
            <tr key={member.id}>
              <td>
                {member.name ?? member.email}
                {member.name && <small>{member.email}</small>}
              </td>
              <td>
                {mayWrite && member.id !== user.id ? (
                  <Select
                    aria-label={`Role of ${member.email}`}
                    size="xs"
                    w={130}
                    allowDeselect={false}
                    data={roleOptions(roles)}
                    value={member.role}
                    onChange={(role) =>
                      changeRole.mutate({ id: member.id, role: role as RoleName })
                    }
                  />
                ) : (
                  capitalize(member.role)
                )}
              </td>
              <td className="wide">{formatAgo(member.createdAt, organization.timezone)}</td>
              <td>
                {mayWrite && member.id !== user.id && (
                  <Button variant="default" size="compact-xs" onClick={() => setLeaving(member)}>
                    Remove
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <ConfirmDialog
        title="Remove member"
        action={`Remove ${leaving?.email ?? ""}`}
        isDangerous
        opened={leaving !== undefined}
        isRunning={remove.isPending}
        error={remove.error}
        onConfirm={() =>
          leaving && remove.mutate(leaving.id, { onSuccess: () => setLeaving(undefined) })
        }
        onClose={() => setLeaving(undefined)}
      >
        {leaving?.email} is signed out at once and can no longer see this organization. API keys
        that the member created stay valid.
      </ConfirmDialog>
    </>
  );
}

interface InvitationListProps {
  invitations: Invitation[];
  mayWrite: boolean;
}

function InvitationList({ invitations, mayWrite }: InvitationListProps) {
  const { timezone } = useMe().organization;
  const revoke = useTeamChange((id: number) => api.invitations.revoke(id));
  return (
    <section className="card" aria-labelledby="invitations">
      <h2 id="invitations">Invitations</h2>
      <ErrorNote error={revoke.error} />
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">Address</th>
            <th scope="col">Role</th>
            <th scope="col" className="wide">
              Valid until
            </th>
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {invitations.map(({ id, email, role, expiresAt }) => (
            <tr key={id}>
              <td>{email}</td>
              <td>{capitalize(role)}</td>
              <td className="wide">{formatAgo(expiresAt, timezone)}</td>
              <td>
                {mayWrite && (
                  <Button
                    variant="default"
                    size="compact-xs"
                    loading={revoke.isPending}
                    onClick={() => revoke.mutate(id)}
                  >
                    Revoke
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function InviteForm({ roles }: { roles: Role[] }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<RoleName>("marketer");
  const invite = useTeamChange((input: CreateInvitationRequest) => api.invitations.create(input));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    invite.mutate({ email, role }, { onSuccess: () => setEmail("") });
  };
  return (
    <form className="card stack" aria-labelledby="invite" onSubmit={submit}>
      <h2 id="invite">Invite somebody</h2>
      <TextInput
        className="narrow"
        label="Email"
        type="email"
        required
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <Select
        className="narrow"
        label="Role"
        description={roles.find(({ name }) => name === role)?.description}
        allowDeselect={false}
        data={roleOptions(roles)}
        value={role}
        onChange={(value) => setRole(value as RoleName)}
      />
      <ErrorNote error={invite.error} />
      <div className="buttons">
        <Button type="submit" loading={invite.isPending}>
          Send invitation
        </Button>
      </div>
    </form>
  );
}
