// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// Tokens with owners, as in ERC-721.
contract Deeds {
    mapping(uint => address) owners;
    mapping(address => uint) held;
    mapping(uint => address) approved;
    mapping(address => mapping(address => bool)) operators;
    uint next;

    function mint(address to) public {
        require(to != address(0));
        owners[next] = to;
        held[to] += 1;
        next += 1;
        assert(held[to] > 0); // expect: safe
    }

    function approve(address to, uint deed) public {
        require(owners[deed] == msg.sender);
        approved[deed] = to;
    }

    function setOperator(address operator, bool can) public {
        operators[msg.sender][operator] = can;
        assert(operators[msg.sender][operator] == can); // expect: safe
    }

    function transferFrom(address from, address to, uint deed) public {
        require(owners[deed] == from && from != address(0) && to != address(0));
        require(msg.sender == from || approved[deed] == msg.sender || operators[from][msg.sender]);
        approved[deed] = address(0);
        held[from] -= 1;
        held[to] += 1;
        owners[deed] = to;
        assert(owners[deed] != address(0)); // expect: safe
        assert(approved[deed] == address(0)); // expect: safe
        assert(from != to); // expect: unsafe
    }

    function unminted() public view {
        assert(owners[next] == address(0)); // expect: safe
    }
}
