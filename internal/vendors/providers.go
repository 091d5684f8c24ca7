package vendors

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"deem"
	"deem/model/bedrock"
	"deem/model/openai"
)

//go:embed providers.yaml
var providersFile []byte

// A Provider is a vendor that uses the wire protocol of another. See providers.yaml.
type Provider struct {
	Name    string            `yaml:"name"`
	About   string            `yaml:"about"`
	Wire    string            `yaml:"wire"`
	URL     string            `yaml:"url"`
	Server  string            `yaml:"server"`
	Path    string            `yaml:"path"`
	Keys    []string          `yaml:"keys"`
	Keyless bool              `yaml:"keyless"`
	Header  string            `yaml:"header"`
	Auth    string            `yaml:"auth"`
	Rejects []string          `yaml:"rejects"`
	Rename  map[string]string `yaml:"rename"`
	Models  []ProviderModel   `yaml:"models"`
}

// A ProviderModel describes the models of a provider whose names have a common prefix.
type ProviderModel struct {
	Prefix  string   `yaml:"prefix"`
	Rejects []string `yaml:"rejects"`
	Thinks  bool     `yaml:"thinks"`
}

// builtin returns the vendors of providers.yaml.
var builtin = sync.OnceValue(func() []Vendor {
	list, err := ParseProviders(providersFile)
	if err != nil {
		panic("catalog: providers.yaml: " + err.Error()) // It is part of the program.
	}
	return list
})

// ParseProviders parses a YAML list of providers.
func ParseProviders(text []byte) ([]Vendor, error) {
	var list []Provider
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&list); err != nil {
		return nil, err
	}
	var vendors []Vendor
	for _, p := range list {
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("provider %q: %w", p.Name, err)
		}
		v := Vendor{
			Name: p.Name, About: p.About, Preset: true, Keys: p.Keys, KeyOptional: p.Keyless || p.Auth != "", Server: p.Server, Auth: p.Auth,
			Options: []string{maxReply}, open: p.open,
		}
		for _, m := range placeholder.FindAllStringSubmatch(p.URL, -1) {
			if !slices.Contains(v.Address, m[1]) {
				v.Address = append(v.Address, m[1])
			}
		}
		if p.URL == "" && p.Wire != "bedrock" {
			v.Address = []string{p.Server}
		}
		if p.Wire == "openai" {
			v.Options = []string{"reasoning", "service-tier", "thinking", maxReply}
		}
		vendors = append(vendors, v)
	}
	return vendors, nil
}

var (
	providerName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	rejectable   = []string{"temperature", "top_p", "seed", "stop", "top_logprobs", "schema"}
	wires        = []string{"openai", "bedrock"}
	placeholder  = regexp.MustCompile(`\{([A-Z][A-Z0-9_]*)\}`)
)

func (p Provider) check() error {
	rejects := slices.Clone(p.Rejects)
	for _, m := range p.Models {
		rejects = append(rejects, m.Rejects...)
	}
	switch {
	case !providerName.MatchString(p.Name):
		return fmt.Errorf("a name has lower-case letters, digits and hyphens")
	case !slices.Contains(wires, p.Wire):
		return fmt.Errorf("wire %q is unknown; there are %s", p.Wire, strings.Join(wires, ", "))
	case p.Wire == "bedrock" && p.Name != "bedrock":
		return fmt.Errorf("the wire bedrock is for the provider bedrock alone")
	case p.Wire != "openai" && (len(rejects)+len(p.Rename)+len(p.Models) > 0 || p.Header != ""):
		return fmt.Errorf("header, rejects, rename and models are for the wire openai")
	case p.URL == "" && p.Server == "" && p.Wire != "bedrock":
		return fmt.Errorf("it needs url, or server for the variable that holds one")
	case p.Auth != "" && p.Auth != "aws" && p.Auth != "google":
		return fmt.Errorf("auth is aws or google, not %q", p.Auth)
	}
	for _, r := range rejects {
		if !slices.Contains(rejectable, r) {
			return fmt.Errorf("rejects %q is unknown; there are %s", r, strings.Join(rejectable, ", "))
		}
	}
	if u, err := url.Parse(placeholder.ReplaceAllString(p.URL, "x")); err != nil || p.URL != "" && u.Host == "" {
		return fmt.Errorf("url %q is not the address of a server", p.URL)
	}
	return nil
}

func (p Provider) open(name string, at access) (deem.Model, error) {
	if at.base == "" {
		at.base = placeholder.ReplaceAllStringFunc(p.URL, func(m string) string {
			return url.PathEscape(cmp.Or(at.env.Get(m[1:len(m)-1]), "any")) // Without it, no call is made.
		})
	}
	if at.base == "" && p.Wire != "bedrock" {
		at.base = "http://" + p.Name + ".invalid/v1"
	}
	if u, err := url.Parse(at.base); err == nil && p.Path != "" && strings.Trim(u.Path, "/") == "" {
		u.Path = p.Path
		at.base = u.String()
	}
	var authorize openai.Authorize
	region := at.env.Get("AWS_REGION")
	if at.key == "" && !at.noCalls {
		switch p.Auth {
		case "aws":
			a, err := findAWS(at.env.Get)
			if err != nil {
				return nil, err
			}
			authorize, region = a.Authorize, a.Region
		case "google":
			g, err := findGoogle(at.env.Get)
			if err != nil {
				return nil, err
			}
			authorize = g.Authorize
		}
	}
	if p.Wire == "bedrock" {
		if region == "" && at.noCalls {
			region = "us-east-1"
		}
		return bedrock.New(bedrock.Options{
			Model: name, Region: region, BaseURL: at.base, Key: at.key, Headers: at.headers, Authorize: authorize,
			Timeout: at.timeout, MaxReply: at.maxReply, Proxy: at.proxy, CAFile: at.caFile,
		})
	}
	o, err := openAIOptions(name, at)
	if err != nil {
		return nil, err
	}
	o.Vendor, o.KeyHeader, o.Authorize, o.Rename = p.Name, p.Header, authorize, p.Rename
	o.Organization, o.Project = "", "" // they are OpenAI's
	o.KeyVariable = strings.Join(p.Keys, " or ")
	o.Rejects = slices.Clone(p.Rejects)
	for _, m := range p.Models {
		if strings.HasPrefix(name, m.Prefix) {
			o.Rejects = append(o.Rejects, m.Rejects...)
			o.Thinks = o.Thinks || m.Thinks
		}
	}
	return openai.New(o)
}
