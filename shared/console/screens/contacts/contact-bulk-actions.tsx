import { ActionIcon, Button, Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconX } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { formatNumber } from "../../format.ts";

interface BulkActionsProps {
  siteId: number;
  /** Address by id. */
  contacts: ReadonlyMap<number, string>;
  onDone(): void;
}

const describe = (count: number): string =>
  count === 1 ? "1 contact" : `${formatNumber(count)} contacts`;

/** The API takes this many ids at once. */
const maxIds = 100;

/** One after the other, so that a large selection keeps within the rate limit. */
async function inTurn<T>(items: T[], work: (item: T) => Promise<unknown>): Promise<void> {
  for (const item of items) await work(item);
}

const inPortions = (ids: number[], work: (ids: number[]) => Promise<unknown>): Promise<void> =>
  inTurn(
    Array.from({ length: Math.ceil(ids.length / maxIds) }, (_, i) =>
      ids.slice(i * maxIds, (i + 1) * maxIds),
    ),
    work,
  );

/** Actions on the selected rows. */
export function BulkActions({ siteId, contacts, onDone }: BulkActionsProps) {
  const lists = useQuery(queries.lists(siteId)).data?.lists ?? [];
  const tags = useQuery(queries.tags(siteId)).data?.tags ?? [];
  const ids = [...contacts.keys()];
  const run = useRunAction(onDone);
  return (
    <section className="bulk" aria-label="Selection">
      <b>{formatNumber(ids.length)} selected</b>
      <GroupMenu
        label="Add tag"
        groups={tags}
        onChoose={(tag) =>
          run.mutate({
            work: () => inTurn(ids, (id) => api.contacts.applyTag(id, { tagId: tag.id })),
            message: `The tag “${tag.name}” was added to ${describe(ids.length)}.`,
          })
        }
      />
      <GroupMenu
        label="Add to list"
        groups={lists}
        onChoose={(list) =>
          run.mutate({
            work: () =>
              inPortions(ids, (contactIds) => api.lists.addContacts(list.id, { contactIds })),
            message: `${describe(ids.length)} added to “${list.name}”.`,
          })
        }
      />
      <ActionIcon variant="subtle" color="gray" aria-label="Clear selection" onClick={onDone}>
        <IconX size={16} />
      </ActionIcon>
    </section>
  );
}

interface Action {
  work(): Promise<unknown>;
  /** What was done, as a sentence. */
  message: string;
}

function useRunAction(onDone: () => void) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ work }: Action) => work(),
    onSuccess: async (_, { message }) => {
      notifications.show({ message });
      onDone();
      await queryClient.invalidateQueries({ queryKey: ["contacts"] });
    },
    onError: ({ message }) => notifications.show({ color: "red", title: "Not done", message }),
  });
}

interface GroupMenuProps {
  label: string;
  groups: { id: number; name: string }[];
  onChoose(group: { id: number; name: string }): void;
}

function GroupMenu({ label, groups, onChoose }: GroupMenuProps) {
  return (
    <Menu>
      <Menu.Target>
        <Button variant="default" size="compact-sm">
          {label}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={300} className="menu-scroll">
        {groups.length === 0 && <Menu.Item disabled>There is none yet</Menu.Item>}
        {groups.map((group) => (
          <Menu.Item key={group.id} onClick={() => onChoose(group)}>
            {group.name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
