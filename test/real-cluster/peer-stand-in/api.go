package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"
)

// kubeconfig is the part of one that the lane writes.
type kubeconfig struct {
	Clusters []struct {
		Cluster struct {
			Server string `json:"server"`
			CA     []byte `json:"certificate-authority-data"`
		} `json:"cluster"`
	} `json:"clusters"`
	Users []struct {
		User struct {
			Token string `json:"token"`
		} `json:"user"`
	} `json:"users"`
}

// api is an API server, as a client with a token sees it.
type api struct {
	client                   *http.Client
	server, token, namespace string
}

func connect(path, namespace string) (*api, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var config kubeconfig
	if err := json.Unmarshal(text, &config); err != nil {
		return nil, fmt.Errorf("cannot read the kubeconfig %q: %w", path, err)
	}
	if len(config.Clusters) != 1 || len(config.Users) != 1 || namespace == "" {
		return nil, errors.New("a kubeconfig with one cluster and one user is needed, and a namespace")
	}
	cluster := config.Clusters[0].Cluster
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cluster.CA)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
	return &api{client, cluster.Server, config.Users[0].User.Token, namespace}, nil
}

// call sends one request about the namespace, and reads the answer into out unless that is nil.
func (a *api) call(method, group, resource string, body, out any) error {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	address := a.server + group + "/namespaces/" + url.PathEscape(a.namespace) + "/" + resource
	request, err := http.NewRequest(method, address, sent)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+a.token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "peer-stand-in")
	response, err := a.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, resource, response.Status, answer)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}
