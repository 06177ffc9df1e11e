package main

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// roller replaces the pods of a rollout group zone by zone, by what its cache shows of sets and pods.
type roller struct {
	client.Client
	namespace, group string
	reconciled       int64
	// Pods that it has deleted: the cache may show them for a while as they were.
	gone map[types.UID]bool
	// finish is called when all pods are of the newest revision and ready, after at least one was deleted.
	finish func()
}

// zone is one set, and what its pods say of it.
type zone struct {
	*appsv1.StatefulSet
	outdated    []corev1.Pod
	unavailable int
}

// Reconcile does one step for the whole group, whichever of its objects has changed.
func (r *roller) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	again := ctrl.Result{RequeueAfter: 200 * time.Millisecond}
	var sets appsv1.StatefulSetList
	if err := r.List(ctx, &sets, client.InNamespace(r.namespace), client.MatchingLabels{"rollout-group": r.group}); err != nil {
		return ctrl.Result{}, err
	}
	slices.SortFunc(sets.Items, func(a, b appsv1.StatefulSet) int { return strings.Compare(a.Name, b.Name) })
	var zones, unready []zone
	for i := range sets.Items {
		z, err := r.look(ctx, &sets.Items[i])
		if err != nil || z.Status.ObservedGeneration < z.Generation {
			return again, err
		}
		zones = append(zones, z)
		if z.unavailable > 0 {
			unready = append(unready, z)
		}
	}
	r.reconciled++
	if len(unready) > 1 {
		return again, nil
	}
	// What is not ready comes first, and is not done with before it is.
	for _, z := range append(unready, zones...) {
		isDone, err := r.roll(ctx, z)
		if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
			return again, nil // The cache is behind: it will have caught up in a moment.
		} else if err != nil || !isDone {
			return again, err
		}
	}
	if len(r.gone) > 0 {
		r.finish()
	}
	return ctrl.Result{}, nil
}

// look finds the pods of a set by the label that its template gives them.
func (r *roller) look(ctx context.Context, set *appsv1.StatefulSet) (zone, error) {
	var pods corev1.PodList
	err := r.List(ctx, &pods, client.InNamespace(r.namespace), client.MatchingLabels{"name": set.Spec.Template.Labels["name"]})
	z := zone{StatefulSet: set, unavailable: int(*set.Spec.Replicas)}
	for _, pod := range pods.Items {
		if r.isAvailable(pod) {
			z.unavailable--
		}
		if pod.Labels["controller-revision-hash"] != set.Status.UpdateRevision {
			z.outdated = append(z.outdated, pod)
		}
	}
	z.unavailable = max(z.unavailable, int(set.Status.Replicas-set.Status.ReadyReplicas))
	return z, err
}

// roll deletes what may go now of a zone, and says whether the zone is done with.
func (r *roller) roll(ctx context.Context, z zone) (bool, error) {
	// A percentage, or what is no number, is taken for the least.
	limit, _ := strconv.Atoi(strings.TrimSpace(z.Annotations["rollout-max-unavailable"]))
	for _, pod := range z.outdated {
		if !r.isAvailable(pod) || z.unavailable >= max(1, limit) {
			continue
		}
		if err := r.Delete(ctx, &pod, client.Preconditions{UID: &pod.UID}); err != nil {
			return false, err
		}
		z.unavailable++
		r.gone[pod.UID] = true
	}
	if len(z.outdated) > 0 || z.unavailable > 0 || z.Status.CurrentRevision == z.Status.UpdateRevision {
		return len(z.outdated) == 0 && z.unavailable <= 0, nil
	}
	// Nobody else says so of sets whose pods are replaced by deleting them.
	z.Status.CurrentRevision = z.Status.UpdateRevision
	return false, r.Status().Update(ctx, z.StatefulSet)
}

func (r *roller) isAvailable(pod corev1.Pod) bool {
	return !r.gone[pod.UID] && pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil &&
		!slices.ContainsFunc(pod.Status.ContainerStatuses, func(status corev1.ContainerStatus) bool {
			return !status.Ready || status.State.Running == nil
		})
}
