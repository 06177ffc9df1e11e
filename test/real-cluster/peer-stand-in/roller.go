package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

const (
	core = "/api/v1"
	apps = "/apis/apps/v1"
)

// metadata is that of any object, as far as it is looked at.
type metadata struct {
	Name              string            `json:"name"`
	Labels            map[string]string `json:"labels"`
	Annotations       map[string]string `json:"annotations"`
	DeletionTimestamp string            `json:"deletionTimestamp"`
}

// statefulSet is a set, read; raw is the whole of it, to be written back.
type statefulSet struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		Template       struct{ Metadata metadata } `json:"template"`
		UpdateStrategy struct{ Type string }       `json:"updateStrategy"`
	} `json:"spec"`
	Status struct {
		Replicas        int    `json:"replicas"`
		ReadyReplicas   int    `json:"readyReplicas"`
		CurrentRevision string `json:"currentRevision"`
		UpdateRevision  string `json:"updateRevision"`
	} `json:"status"`
	raw json.RawMessage
}

// pod is a pod, read.
type pod struct {
	Metadata metadata `json:"metadata"`
	Status   struct {
		Phase             string `json:"phase"`
		ContainerStatuses []struct {
			Ready bool
			State struct{ Running *struct{} }
		} `json:"containerStatuses"`
	} `json:"status"`
}

type roller struct{ *api }

// reconcile looks at every group once.
func (r roller) reconcile() error {
	sets, err := r.sets()
	if err != nil {
		return err
	}
	groups := map[string][]statefulSet{}
	for _, set := range sets {
		group := set.Metadata.Labels["rollout-group"]
		groups[group] = append(groups[group], set)
	}
	for group, sets := range groups {
		if err := r.reconcileGroup(sets); err != nil {
			return fmt.Errorf("group %s: %w", group, err)
		}
	}
	return nil
}

// sets are those of all groups, by name.
func (r roller) sets() ([]statefulSet, error) {
	var list struct{ Items []json.RawMessage }
	if err := r.call("GET", apps, "statefulsets?labelSelector=rollout-group", nil, &list); err != nil {
		return nil, err
	}
	sets := make([]statefulSet, len(list.Items))
	for i, raw := range list.Items {
		if err := json.Unmarshal(raw, &sets[i]); err != nil {
			return nil, err
		}
		sets[i].raw = raw
	}
	slices.SortFunc(sets, func(a, b statefulSet) int { return strings.Compare(a.Metadata.Name, b.Metadata.Name) })
	return sets, nil
}

// pods are those that carry the name label of the set's template, by ordinal.
func (r roller) pods(set statefulSet) ([]pod, error) {
	selector := url.QueryEscape("name=" + set.Spec.Template.Metadata.Labels["name"])
	var list struct{ Items []pod }
	err := r.call("GET", core, "pods?labelSelector="+selector, nil, &list)
	slices.SortFunc(list.Items, func(a, b pod) int { return ordinal(a) - ordinal(b) })
	return list.Items, err
}

func ordinal(p pod) int {
	name := p.Metadata.Name
	number, _ := strconv.Atoi(name[strings.LastIndex(name, "-")+1:])
	return number
}

// reconcileGroup goes on with the zone that is not ready, or else zone by zone; with two that are not ready it waits.
func (r roller) reconcileGroup(sets []statefulSet) error {
	var unready []string
	for _, set := range sets {
		if set.Spec.UpdateStrategy.Type != "OnDelete" {
			return fmt.Errorf("%s has the update strategy %s", set.Metadata.Name, set.Spec.UpdateStrategy.Type)
		}
		isReady, err := r.isReady(set)
		if err != nil {
			return err
		}
		if !isReady {
			unready = append(unready, set.Metadata.Name)
		}
	}
	if len(unready) > 1 {
		return nil
	}
	slices.SortStableFunc(sets, func(a, b statefulSet) int {
		return first(unready, a) - first(unready, b)
	})
	for _, set := range sets {
		if isDone, err := r.roll(set); err != nil || !isDone {
			return err
		}
	}
	return nil
}

// first sorts what is named before what is not.
func first(names []string, set statefulSet) int {
	if slices.Contains(names, set.Metadata.Name) {
		return 0
	}
	return 1
}

func (r roller) isReady(set statefulSet) (bool, error) {
	if set.Status.Replicas != set.Status.ReadyReplicas {
		return false, nil
	}
	pods, err := r.pods(set)
	if err != nil || len(pods) < set.Status.Replicas {
		return false, err
	}
	return !slices.ContainsFunc(pods, func(p pod) bool { return !isRunningAndReady(p) }), nil
}

func isRunningAndReady(p pod) bool {
	for _, container := range p.Status.ContainerStatuses {
		if !container.Ready || container.State.Running == nil {
			return false
		}
	}
	return p.Status.Phase == "Running" && p.Metadata.DeletionTimestamp == ""
}

// roll deletes what may go now of a set, and says whether the next one may have its turn.
func (r roller) roll(set statefulSet) (bool, error) {
	status := set.Status
	if status.CurrentRevision == "" || status.UpdateRevision == "" {
		return false, fmt.Errorf("%s has no revisions yet", set.Metadata.Name)
	}
	pods, err := r.pods(set)
	if err != nil {
		return false, err
	}
	outdated := slices.DeleteFunc(pods, func(p pod) bool {
		return p.Metadata.Labels["controller-revision-hash"] == status.UpdateRevision
	})
	if len(outdated) > 0 {
		limit, _ := strconv.Atoi(set.Metadata.Annotations["rollout-max-unavailable"])
		budget := max(1, limit) - (status.Replicas - status.ReadyReplicas)
		return false, r.delete(outdated[:max(0, min(budget, len(outdated)))])
	}
	isReady, err := r.isReady(set)
	if err != nil || !isReady || status.CurrentRevision == status.UpdateRevision {
		return isReady, err
	}
	return true, r.setCurrentRevision(set)
}

// delete takes pods by their names alone: whatever is called so when the request arrives is what goes.
func (r roller) delete(pods []pod) error {
	for _, p := range pods {
		if p.Status.Phase == "Running" && p.Metadata.DeletionTimestamp != "" {
			continue
		}
		fmt.Fprintln(os.Stderr, "deleting", p.Metadata.Name)
		if err := r.call("DELETE", core, "pods/"+p.Metadata.Name, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

func (r roller) setCurrentRevision(set statefulSet) error {
	var whole map[string]any
	if err := json.Unmarshal(set.raw, &whole); err != nil {
		return err
	}
	status, isObject := whole["status"].(map[string]any)
	if !isObject {
		return fmt.Errorf("%s has no status", set.Metadata.Name)
	}
	status["currentRevision"] = set.Status.UpdateRevision
	return r.call("PUT", apps, "statefulsets/"+set.Metadata.Name+"/status", whole, nil)
}
