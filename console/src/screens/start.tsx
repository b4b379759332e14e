import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { send } from "../api/client";
import { tasksQuery } from "../api/queries";
import type { Scalar, RunStarted, TaskRow } from "../api/types";
import { Dialog, Field } from "../ui/dialog";
import { Button } from "../ui/parts";
import { Said } from "../ui/said";
import { Trouble } from "../ui/trouble";

/** Starts a task that the server knows by name, with its inputs. */
export function StartDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const tasks = useQuery({ ...tasksQuery(), enabled: open });
  const known = tasks.data ?? [];
  const [name, setName] = useState("");
  const task = known.find((one) => one.name === name) ?? known[0];
  return (
    <Dialog open={open} onClose={onClose} title="Start a run" says="A task that this server knows by name.">
      <Trouble error={tasks.error} />
      {task && (
        <div className="space-y-4">
          <Field label="Task">
            {(className) => (
              <select autoFocus className={className} value={task.name} onChange={(event) => setName(event.target.value)}>
                {known.map((one) => (
                  <option key={one.name}>{one.name}</option>
                ))}
              </select>
            )}
          </Field>
          <Inputs key={task.name} task={task} onClose={onClose} />
        </div>
      )}
      {tasks.data && !known.length && <p className="text-sm text-soft">This server knows no tasks.</p>}
    </Dialog>
  );
}

function Inputs({ task, onClose }: { task: TaskRow; onClose: () => void }) {
  const [inputs, setInputs] = useState<Record<string, Scalar>>(task.inputs);
  // One key for each filling of the form: pressed twice, or repeated by the network, it still starts one run.
  const [key] = useState(() => crypto.randomUUID());
  const navigate = useNavigate();
  const client = useQueryClient();
  const start = useMutation({
    mutationFn: () => send<RunStarted>("POST", "runs", { task: task.name, inputs }, { "Idempotency-Key": key }),
    onSuccess: ({ run }) => {
      void client.invalidateQueries({ queryKey: ["runs"] });
      onClose();
      void navigate({ to: "/runs/$run", params: { run }, search: {} });
    },
  });
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        start.mutate();
      }}
    >
      <p className="rounded-lg bg-sunken px-3 py-2 text-sm">
        <Said text={task.goal} />
      </p>
      {Object.entries(inputs).map(([input, value]) => (
        <Field key={input} label={input}>
          {(className) => (
            <input
              className={className}
              value={value === null ? "" : String(value)}
              onChange={(event) => setInputs({ ...inputs, [input]: typed(event.target.value, task.inputs[input]) })}
            />
          )}
        </Field>
      ))}
      <Trouble error={start.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" type="submit" disabled={start.isPending}>
          Start
        </Button>
      </div>
    </form>
  );
}

/** The text as the kind of value that the task has for this input. */
function typed(text: string, like: Scalar | undefined): Scalar {
  if (typeof like === "number" && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  if (typeof like === "boolean") return text === "true";
  return text;
}
