import { Tabs } from "@mantine/core";
import { useMe, useRight } from "../../data/session.ts";
import { PageHead } from "../../parts/page-head.tsx";
import { ApiKeys } from "./api-keys.tsx";
import { Members } from "./members.tsx";

export function Settings() {
  const { organization } = useMe();
  const mayReadTeam = useRight("team:read");
  const mayReadKeys = useRight("credentials:read");
  return (
    <div className="page">
      <PageHead title="Settings" note={`${organization.name}, plan ${organization.plan}`} />
      <Tabs defaultValue={mayReadTeam ? "members" : "keys"} keepMounted={false}>
        <Tabs.List>
          {mayReadTeam && <Tabs.Tab value="members">Members</Tabs.Tab>}
          {mayReadKeys && <Tabs.Tab value="keys">API keys</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="members">
          <Members />
        </Tabs.Panel>
        <Tabs.Panel value="keys">
          <ApiKeys />
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}
